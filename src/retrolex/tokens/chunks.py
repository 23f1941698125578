"""Long documents cut into chunks, at sentence ends where possible, without losing a token."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retrolex.tokens.cache import Tokens


class Chunks(NamedTuple):
    """Chunks in the order of their documents.

    Attributes:
        document: row of each chunk in the token cache, int64 [n].
        start, stop: the chunk's tokens are ``tokens.ids[start:stop]``, int64 [n].
    """

    document: np.ndarray
    start: np.ndarray
    stop: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each chunk."""
        return self.stop - self.start


def chunk(tokens: Tokens, max_length: int, sentence_ends: tuple[tuple[int, ...], ...] = ()) -> Chunks:
    """Cut every document into chunks of at most `max_length` tokens; each token lies in exactly one.

    A document that needs k chunks is cut near its k-quantiles, so that no sliver is left over: at the sentence end
    nearest to the even cut, else at the nearest word start, else in the middle of a word.

    Args:
        tokens: the cache; its empty documents have no chunk.
        max_length: in tokens, specials not included.
        sentence_ends: sequences of token ids that end a sentence (`Vocabulary.sentence_ends`).
    """
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1, not {max_length}")
    lengths = tokens.lengths
    long = np.flatnonzero(lengths > max_length)
    document, start, stop = [np.flatnonzero((lengths > 0) & (lengths <= max_length))], [], []
    start.append(tokens.offsets[document[0]])
    stop.append(tokens.offsets[document[0] + 1])
    for row in long:
        begin, end = int(tokens.offsets[row]), int(tokens.offsets[row + 1])
        cuts = np.asarray(cuts_of(tokens, begin, end, max_length, sentence_ends), dtype=np.int64)
        document.append(np.full(len(cuts) - 1, row))
        start.append(cuts[:-1])
        stop.append(cuts[1:])
    pieces = Chunks(*(np.concatenate(parts).astype(np.int64) for parts in (document, start, stop)))
    order = np.argsort(pieces.start, kind="stable")
    return Chunks(*(part[order] for part in pieces))


def cuts_of(tokens: Tokens, begin: int, end: int, max_length: int, sentence_ends: tuple[tuple[int, ...], ...]) -> list[int]:
    """Ascending places from `begin` to `end`, neighbours at most `max_length` apart."""
    places = np.arange(begin, end)
    words = begin + np.flatnonzero(tokens.word_starts(places))
    sentences = begin + after_sentences(np.asarray(tokens.ids[begin:end]), sentence_ends)
    cuts = [begin]
    while end - cuts[-1] > max_length:
        here, left = cuts[-1], end - cuts[-1]
        even = here + left / -(-left // max_length)
        cuts.append(nearest(sentences, here, max_length, even) or nearest(words, here, max_length, even) or here + max_length)
    cuts.append(end)
    return cuts


def nearest(places: np.ndarray, here: int, max_length: int, even: float) -> int | None:
    """Of the ascending places in the second half of the room after `here`, the one nearest to the even cut."""
    room = places[np.searchsorted(places, here + max(1, max_length // 2)) : np.searchsorted(places, here + max_length, side="right")]
    return int(room[np.argmin(np.abs(room - even))]) if len(room) else None


def after_sentences(ids: np.ndarray, sentence_ends: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Places just after a sentence's end, ascending."""
    last = np.isin(ids, np.asarray([end[0] for end in sentence_ends if len(end) == 1], dtype=np.int64))
    for end in sentence_ends:
        if 1 < len(end) <= len(ids):
            last[len(end) - 1 :] |= np.all([ids[i : len(ids) - len(end) + 1 + i] == number for i, number in enumerate(end)], axis=0)
    return 1 + np.flatnonzero(last)
