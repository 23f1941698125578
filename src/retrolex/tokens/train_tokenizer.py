"""A WordPiece vocabulary of one's own, for training from scratch on text that no published vocabulary fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from retrolex.errors import UserError

SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
INSIDE = "##"  # how WordPiece marks a piece that continues a word
REPEATS = 10_000  # of one word in one string for the trainer


def train_wordpiece(texts: Iterable[str], size: int, max_length: int = 512) -> Any:
    """Learn a lowercase WordPiece vocabulary, as BERT's, from texts; the same texts give the same vocabulary.

    Args:
        texts: read once.
        size: entries wanted, special tokens included; text that knows fewer word pieces gives fewer. A quarter of them at
            most are single characters; words with a rarer character become [UNK].
        max_length: what the tokenizer cuts inputs at, specials included.

    Returns:
        A `transformers.PreTrainedTokenizerFast` that frames a text as [CLS] text [SEP].

    Raises:
        UserError: the texts hold no word at all.
    """
    from tokenizers import Tokenizer, decoders, models, processors
    from transformers import PreTrainedTokenizerFast

    counts = word_counts(texts)
    if not counts:
        raise UserError("no text to learn a vocabulary from", mend="train on a collection with words in it")
    tokenizer = Tokenizer(models.WordPiece(pieces(counts, size), unk_token=SPECIAL["unk_token"], continuing_subword_prefix=INSIDE))
    tokenizer.normalizer, tokenizer.pre_tokenizer = words_of_bert()
    tokenizer.decoder = decoders.WordPiece(prefix=INSIDE)
    frame = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=frame)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=max_length, **SPECIAL)


def words_of_bert() -> tuple[Any, Any]:
    """BERT's normalizer and pre-tokenizer: lowercase without accents, cut at white space, punctuation and Chinese characters."""
    from tokenizers import normalizers, pre_tokenizers

    return normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()


def word_counts(texts: Iterable[str]) -> dict[str, int]:
    """How often each word occurs, in alphabetical order."""
    normalizer, pre_tokenizer = words_of_bert()
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(word for word, _ in pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(text)))
    return dict(sorted(counts.items()))


def pieces(counts: dict[str, int], size: int) -> dict[str, int]:
    """The vocabulary: special tokens, characters, then word pieces as they are learned, most useful first.

    The trainer breaks ties by the numbers that pieces have, and numbers characters within words as it meets them, in no
    certain order. So these are numbered beforehand, by naming them among its special tokens.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    characters: Counter[str] = Counter()
    for word, count in counts.items():
        for character in word:
            characters[character] += count
    kept = sorted(sorted(characters, key=lambda character: (-characters[character], character))[: size // 4])
    known = set(kept)
    words = {word: count for word, count in counts.items() if known.issuperset(word)}
    within = {character for word in words for character in word[1:]}
    fixed = [*SPECIAL.values(), *kept, *(INSIDE + character for character in kept if character in within)]

    learner = Tokenizer(models.WordPiece(unk_token=SPECIAL["unk_token"], continuing_subword_prefix=INSIDE))
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=fixed, continuing_subword_prefix=INSIDE, show_progress=False)
    learner.train_from_iterator(repeated(words), trainer)
    return learner.get_vocab()


def repeated(counts: dict[str, int]) -> Iterator[str]:
    """Every word as often as it occurs, many to a string."""
    for word, count in counts.items():
        for start in range(0, count, REPEATS):
            yield " ".join([word] * min(REPEATS, count - start))
