"""Long documents cut into windows that overlap, so that each part of a document can be found by itself."""

from __future__ import annotations

import numpy as np

from retrolex.errors import UserError
from retrolex.tokens.cache import Tokens
from retrolex.tokens.chunks import Chunks


def windows(tokens: Tokens, length: int, overlap: int) -> Chunks:
    """Windows of at most `length` tokens over every document; a document has at least one, be it empty.

    A window begins and ends where words do (in the middle of a word only where the word leaves no choice), the next one begins
    at least `overlap` tokens before its end where that gets on at all, and the last one reaches back as far as it may.

    Args:
        tokens: the cache.
        length: of a window in tokens, specials not included.
        overlap: tokens that neighbours share.

    Raises:
        UserError: a length below 1, or an overlap that is not below it.
    """
    if not 0 <= overlap < length:
        mend = "choose an overlap of a quarter of the length"
        raise UserError(f"windows of {length} tokens cannot overlap by {overlap}", where="passages", mend=mend)
    lengths = tokens.lengths
    short = np.flatnonzero(lengths <= length)
    document, start, stop = [short], [tokens.offsets[short]], [tokens.offsets[short + 1]]
    for row in np.flatnonzero(lengths > length):
        spans = np.asarray(spans_of(tokens, int(tokens.offsets[row]), int(tokens.offsets[row + 1]), length, overlap), dtype=np.int64)
        document.append(np.full(len(spans), row))
        start.append(spans[:, 0])
        stop.append(spans[:, 1])
    pieces = Chunks(*(np.concatenate(parts).astype(np.int64) for parts in (document, start, stop)))
    order = np.argsort(pieces.document, kind="stable")
    return Chunks(*(part[order] for part in pieces))


def spans_of(tokens: Tokens, begin: int, end: int, length: int, overlap: int) -> list[tuple[int, int]]:
    """Start and stop of each window over a document that needs more than one."""
    words = begin + np.flatnonzero(tokens.word_starts(np.arange(begin, end)))
    spans, here, stop = [], begin, begin
    while here + length < end:
        stop = last(words, max(here + overlap + 1, here + length // 2, stop + 1), here + length) or here + length
        spans.append((here, stop))
        here = last(words, here + 1, stop - overlap) or stop - overlap
    back = first(words, end - length, here)
    return [*spans, (here if back is None else back, end)]


def last(places: np.ndarray, low: int, high: int) -> int | None:
    """The last of the ascending places from `low` to `high`, both included."""
    index = int(np.searchsorted(places, high, side="right")) - 1
    return int(places[index]) if index >= 0 and places[index] >= low else None


def first(places: np.ndarray, low: int, high: int) -> int | None:
    """The first of the ascending places from `low` to `high`, both included."""
    index = int(np.searchsorted(places, low))
    return int(places[index]) if index < len(places) and places[index] <= high else None
