"""What every index of the package offers, whatever it is made of, and the form of its results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

Run: TypeAlias = dict[str, list[tuple[str, float]]]
"""Query id -> [(document id, score)], by falling score; among equal scores, the document that comes earlier in the collection first."""

Hits: TypeAlias = tuple[np.ndarray, np.ndarray]
"""One query's result: positions of documents (int64) and their scores, best first."""


class Index(Protocol):
    """A searchable set of documents. Positions count the documents in the order in which they were added."""

    @property
    def ids(self) -> Sequence[str]:
        """Document ids by position."""
        ...

    @property
    def bytes(self) -> int:
        """Size on disk."""
        ...

    def __len__(self) -> int: ...

    def search(self, queries: Any, k: int, threads: int = 1) -> list[Hits]:
        """The best `k` documents of each query; what a query is (sparse rows, dense rows, text) is the index's own affair."""
        ...


def to_run(query_ids: Iterable[str], hits: Iterable[Hits], ids: Sequence[str]) -> Run:
    """Name the queries and documents of a search's results.

    Args:
        query_ids: one id a query, in the order of `hits`.
        hits: positions and scores, one pair a query.
        ids: document ids by position.
    """
    named: Run = {}
    for query, (positions, scores) in zip(query_ids, hits, strict=True):
        named[query] = [(ids[position], score) for position, score in zip(positions.tolist(), map(float, scores.tolist()), strict=True)]
    return named
