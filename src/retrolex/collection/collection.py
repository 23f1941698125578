"""A collection on disk: documents, queries and judgments, memory-mapped, in the order they were imported."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from retrolex.collection.arrow import DOCUMENTS, QRELS, QUERIES, read_batches
from retrolex.collection.documents import Document, Qrels, Queries
from retrolex.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa


def _columns(batch: pa.RecordBatch) -> list[list]:
    return [column.to_pylist() for column in batch.columns]


class Collection:
    """Documents by position or by id, and the queries and judgments that come with them.

    The documents stay on disk and are read as they are asked for; ids, queries and judgments are loaded at first use.
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self._batches = read_batches(self.folder, DOCUMENTS)
        self._ends = list(accumulate(len(batch) for batch in self._batches))

    @classmethod
    def open(cls, folder: str | Path) -> Collection:
        """Open an imported collection.

        Raises:
            UserError: the folder holds no collection, or a damaged one.
        """
        return cls(Path(folder))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, position: int) -> Document:
        """The document at a position, 0 <= position < len(collection). Raises IndexError outside."""
        if not 0 <= position < len(self):
            raise IndexError(f"position {position} in a collection of {len(self)} documents")
        return next(self.documents(position, position + 1))

    def __iter__(self) -> Iterator[Document]:
        return self.documents()

    def documents(self, start: int = 0, stop: int | None = None) -> Iterator[Document]:
        """The documents from position `start` up to, not including, `stop` (default: to the end)."""
        stop = len(self) if stop is None else min(stop, len(self))
        number = bisect_right(self._ends, start)
        while start < stop:
            batch, end = self._batches[number], self._ends[number]
            rows = batch.slice(start - (end - len(batch)), min(stop, end) - start)
            yield from map(Document, *_columns(rows))
            start, number = end, number + 1

    @cached_property
    def ids(self) -> list[str]:
        """All document ids, in order."""
        return list(self.each_id())

    def each_id(self) -> Iterator[str]:
        """All document ids, in order, without holding them in memory."""
        return (id for batch in self._batches for id in batch.column("id").to_pylist())

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {id: position for position, id in enumerate(self.ids)}

    def __contains__(self, id: str) -> bool:
        """Whether a document has this id."""
        return id in self._positions

    def position(self, id: str) -> int:
        """The position of the document with this id. Raises KeyError when there is none."""
        return self._positions[id]

    @cached_property
    def queries(self) -> Queries:
        """Query id -> text, in the order of the source."""
        return {id: text for batch in read_batches(self.folder, QUERIES) for id, text in zip(*_columns(batch), strict=True)}

    @cached_property
    def _judgments(self) -> dict[str, Qrels]:
        splits: dict[str, Qrels] = {}
        for batch in read_batches(self.folder, QRELS):
            for split, query, document, grade in zip(*_columns(batch), strict=True):
                splits.setdefault(split, {}).setdefault(query, {})[document] = grade
        return splits

    @property
    def splits(self) -> list[str]:
        """Names of the splits that have judgments, sorted."""
        return sorted(self._judgments)

    def qrels(self, split: str) -> Qrels:
        """Judgments of one split as the source states them, also those of documents or queries that are not here.

        Raises:
            UserError: no judgments under this name.
        """
        if split not in self._judgments:
            raise UserError(f"no judgments for the split {split!r}; there are: {', '.join(self.splits) or 'none'}", where=self.folder)
        return self._judgments[split]
