"""A fast tokenizer of each kind: WordPiece, byte-level BPE, SentencePiece-like unigram."""

from __future__ import annotations

import pytest

TEXTS = [
    "The wing of an aircraft carries the load of the fuselage. In steady flight lift equals weight! Does it?",
    "",
    "Vitamin D and calcium help to keep bones strong in old age.",
    "naïve café, 東京都 ½ don't — " * 20,
    "one two three. four five six. seven eight nine ten. " * 30,
]
NAMES = {"unk_token": "<u>", "pad_token": "<p>", "mask_token": "<m>", "cls_token": "<c>", "sep_token": "<s>"}
SPECIAL = list(NAMES.values())


def train(kind: str, texts: list[str] = TEXTS, size: int = 200):
    """Train a tokenizer of a kind; its special ids are nothing like BERT's. `size` counts for all but BPE."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    if kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="<u>"))
        trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=["[unused0]", *SPECIAL])
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
    elif kind == "bpe":
        tokenizer, trainer = Tokenizer(models.BPE()), trainers.BpeTrainer(vocab_size=330, special_tokens=SPECIAL)
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        trainer.initial_alphabet = pre_tokenizers.ByteLevel.alphabet()
    else:
        tokenizer, trainer = Tokenizer(models.Unigram()), trainers.UnigramTrainer(vocab_size=size, special_tokens=SPECIAL, unk_token="<u>")
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.train_from_iterator(texts, trainer)
    frame = [(name, tokenizer.token_to_id(name)) for name in ("<c>", "<s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single="<c> $A <s>", special_tokens=frame)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=32, **NAMES)


@pytest.fixture(scope="session", params=["wordpiece", "bpe", "unigram"])
def tokenizer(request):
    return train(request.param)


@pytest.fixture(scope="session")
def texts():
    return TEXTS
