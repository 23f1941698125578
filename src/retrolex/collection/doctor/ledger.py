"""What is remembered of every row: hashes and places in flat arrays, 48 bytes a row; no text.

64 bits a hash: among ten million rows the chance of a single collision is below one in 300,000.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

from retrolex.collection.documents import Document, Judgment, Query
from retrolex.collection.readers.records import Place

LINE_BITS = 40


def hash_of(text: str) -> int:
    """64 bits that stand for a text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def text_hash(text: str) -> int:
    """64 bits that stand for a text whatever its capitals and white space; 0 for one without a visible character."""
    words = text.casefold().split()
    return hash_of(" ".join(words)) if words else 0


def loose(id: str) -> str:
    """An id without what other programs lose: white space at its ends and, in a number, leading zeros."""
    stripped = id.strip()
    return (stripped.lstrip("0") or "0") if stripped.isdecimal() else stripped


class Index:
    """Finds the first row that has a hash, by bisection."""

    def __init__(self, hashes: array):
        values = np.array(hashes, dtype=np.uint64)
        self._order = np.argsort(values, kind="stable")
        self._sorted = array("Q", values[self._order].tobytes())

    def find(self, hash: int) -> int | None:
        """The row's number, counted from 0 in reading order, or None."""
        at = bisect_left(self._sorted, hash)
        return int(self._order[at]) if at < len(self._sorted) and self._sorted[at] == hash else None


class Rows:
    """Documents or queries, in reading order. A query has no title, and its body is its whole text."""

    def __init__(self) -> None:
        self.ids, self.loose, self.whole, self.body, self.title, self.places = (array("Q") for _ in range(6))
        self._indexes: dict[str, tuple[int, Index]] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, item: Document | Query, place: int) -> None:
        """One more row."""
        loosened, title = loose(item.id), item.title if isinstance(item, Document) else ""
        self.ids.append(hash_of(item.id))
        self.loose.append(self.ids[-1] if loosened == item.id else hash_of(loosened))
        self.title.append(text_hash(title))
        self.body.append(text_hash(item.text))
        self.whole.append(text_hash(item.full) if self.title[-1] and isinstance(item, Document) else self.body[-1])
        self.places.append(place)

    def find(self, column: str, hash: int) -> int | None:
        """The first row whose `ids`, `loose`, `whole`, `body` or `title` is this hash."""
        size, index = self._indexes.get(column, (-1, None))
        if index is None or size != len(self):
            index = Index(getattr(self, column))
            self._indexes[column] = len(self), index
        return index.find(hash)

    def repeats(self, column: str) -> Iterator[tuple[int, int]]:
        """Rows whose value has occurred before, each with the first row that has it, in reading order; 0 is no value."""
        values = np.array(getattr(self, column), dtype=np.uint64)
        order = np.argsort(values, kind="stable")
        values = values[order]
        again = np.zeros(len(values), dtype=bool)
        again[1:] = (values[1:] == values[:-1]) & (values[1:] != 0)
        firsts = order[np.maximum.accumulate(np.where(again, 0, np.arange(len(values))))]
        rows, firsts = order[again], firsts[again]
        turn = np.argsort(rows)
        return zip(rows[turn].tolist(), firsts[turn].tolist(), strict=True)


class Ledger:
    """The rows seen so far.

    Attributes:
        documents, queries: their hashes.
        judged: split -> query id -> the place of its first judgment, as a number.
        relevant: split -> ids of queries with a grade of 1 or more.
    """

    def __init__(self) -> None:
        self.documents, self.queries = Rows(), Rows()
        self.judged: dict[str, dict[str, int]] = {}
        self.relevant: dict[str, set[str]] = {}
        self._files: list[str] = []
        self._numbers: dict[str, int] = {}

    def add(self, item: Document | Query | Judgment, place: Place) -> None:
        """One more row."""
        number = self._pack(place)
        if isinstance(item, Judgment):
            self.judged.setdefault(item.split, {}).setdefault(item.query, number)
            relevant = self.relevant.setdefault(item.split, set())
            if item.grade >= 1:
                relevant.add(item.query)
        else:
            (self.documents if isinstance(item, Document) else self.queries).add(item, number)

    def place(self, number: int) -> Place:
        """The place that a number stands for."""
        return Place(self._files[number >> LINE_BITS], number & ((1 << LINE_BITS) - 1))

    def _pack(self, place: Place) -> int:
        file = self._numbers.get(place.file)
        if file is None:
            file = self._numbers[place.file] = len(self._files)
            self._files.append(place.file)
        return file << LINE_BITS | place.line
