"""Texts to token ids and word starts, a batch at a time, and as fast as the kind of tokenizer allows.

Measured with BERT's tokenizer, 97% of the time is spent inside the tokenizer and 3% in fetching ids and words from it, so that the
tokenizer's own threads are all the parallelism that pays. What pays more is not to cut the same word twice: BERT's tokenizer looks
at one word at a time, so a table of the words seen so far gives the same ids (`WordTable`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from retrolex.words import begins_word, is_attached, is_unspaced

BLANKS = " \t\n\r"  # what BERT's tokenizer surely takes for white space; it drops other control characters and joins what is around them
BETWEEN_WORDS = re.compile(f"[{BLANKS}]+")
REMEMBERED = 2_000_000  # characters, of some 200,000 words; about 60 MB


class Cut(NamedTuple):
    """Texts cut into tokens, one after another.

    Attributes:
        ids: of all texts, int64 [t].
        starts: whether a word starts there, bool [t].
        lengths: tokens of each text, int64 [n].
    """

    ids: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray


def cutter(tokenizer: Any) -> Callable[[Sequence[str]], Cut]:
    """The fastest way to cut texts with this tokenizer; all ways give the same."""
    backend = tokenizer.backend_tokenizer
    return WordTable(backend) if word_by_word(backend) else lambda texts: cut(backend, texts)


def cut(backend: Any, texts: Sequence[str]) -> Cut:
    """Cut texts with a `tokenizers.Tokenizer`, which uses all cores that it may.

    A word is what the tokenizer takes for one. Where a script is written without spaces it may take a whole text for one, so that
    there every token starts a word, save one that goes on with the character before it.
    """
    encodings = backend.encode_batch(list(texts), add_special_tokens=False)
    lengths = np.fromiter((len(encoding) for encoding in encodings), np.int64, len(encodings))
    ids = np.fromiter(chain.from_iterable(encoding.ids for encoding in encodings), np.int64, lengths.sum())
    words = np.fromiter((-1 if word is None else word for encoding in encodings for word in encoding.word_ids), np.int64, lengths.sum())
    starts = np.ones(len(words), dtype=bool)
    starts[1:] = (words[1:] != words[:-1]) | (words[1:] < 0)  # a token outside all words stands alone
    firsts = np.cumsum(lengths) - lengths
    starts[firsts[lengths > 0]] = True
    for text, encoding, first in zip(texts, encodings, firsts.tolist(), strict=True):
        if len(encoding) > 1 and is_unspaced(text):
            starts[first + 1 : first + len(encoding)] |= unspaced_starts(text, np.asarray(encoding.offsets, dtype=np.int64))
    return Cut(ids, starts, lengths)


def unspaced_starts(text: str, offsets: np.ndarray) -> np.ndarray:
    """Which tokens after the first begin with a character of an unspaced script, or follow one; bool [t - 1].

    Args:
        offsets: start and stop of every token in the text, in characters [t, 2]; tokens that share a character overlap.
    """
    letters = np.fromiter((begins_word(sign) for sign in text), bool, len(text))
    inside = np.fromiter((is_attached(sign) for sign in text), bool, len(text))
    begin, before = np.minimum(offsets[1:, 0], len(text) - 1), offsets[:-1, 1]
    apart = (offsets[1:, 0] >= before) & (offsets[1:, 1] > offsets[1:, 0])
    return apart & ~inside[begin] & (letters[begin] | letters[np.maximum(before - 1, 0)])


def word_by_word(backend: Any) -> bool:
    """Whether a tokenizer is BERT's: what it makes of a text is what it makes of the pieces between blanks."""
    parts = json.loads(backend.to_str())
    types = [(parts[name] or {}).get("type") for name in ("normalizer", "pre_tokenizer", "model")]
    if types != ["BertNormalizer", "BertPreTokenizer", "WordPiece"] or not parts["normalizer"]["clean_text"]:
        return False
    return not any(set(BLANKS) & set(token["content"]) for token in parts["added_tokens"])


class WordTable:
    """A tokenizer that remembers the words it has cut."""

    def __init__(self, backend: Any):
        self.backend = backend
        self.forget()

    def forget(self) -> None:
        """Start anew: memory stays flat however many different words a collection has, and however long they are."""
        self.numbers: dict[str, int] = {}
        self.characters = 0
        self.cut = Cut(np.zeros(0, np.int64), np.zeros(0, bool), np.zeros(0, np.int64))
        self.offsets = np.zeros(1, np.int64)

    def __call__(self, texts: Sequence[str]) -> Cut:
        """See `Cut`."""
        pieces = [BETWEEN_WORDS.split(text) if "\n" in text or "\t" in text or "\r" in text else text.split(" ") for text in texts]
        words = list(chain.from_iterable(pieces))
        self.learn(words)
        numbers = np.fromiter(map(self.numbers.__getitem__, words), np.int64, len(words))
        sizes = self.cut.lengths[numbers]
        reached = np.cumsum(sizes)
        places = np.arange(reached[-1] if len(reached) else 0) + np.repeat(self.offsets[numbers] - (reached - sizes), sizes)
        borders = np.cumsum([len(piece) for piece in pieces])
        lengths = np.diff(np.concatenate([[0], reached])[np.concatenate([[0], borders]).astype(np.int64)])
        return Cut(self.cut.ids[places], self.cut.starts[places], lengths)

    def learn(self, words: Sequence[str]) -> None:
        """Cut those that are new."""
        if self.characters > REMEMBERED:
            self.forget()
        new = [word for word in dict.fromkeys(words) if word not in self.numbers]
        if new:
            self.characters += sum(map(len, new))
            self.numbers.update(zip(new, range(len(self.numbers), len(self.numbers) + len(new)), strict=True))
            self.cut = Cut(*(np.concatenate(parts) for parts in zip(self.cut, cut(self.backend, new), strict=True)))
            self.offsets = np.concatenate([[0], np.cumsum(self.cut.lengths)])
