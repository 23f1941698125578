"""What every index of the package offers, whatever it is made of, and the form of its results."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from retrolex.errors import UserError

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


class Named:
    """What all indexes share: results by document id, and a copy elsewhere. Expects `ids`, `folder` and `search`."""

    folder: Path
    ids: Sequence[str]

    def search(self, queries: Any, k: int, threads: int = 1) -> list[Hits]:
        """See `Index`."""
        raise NotImplementedError

    def run(self, query_ids: Sequence[str], queries: Any, k: int, threads: int = 1) -> Run:
        """The best `k` documents of each query, by id; `queries` answer to `query_ids` one by one."""
        return to_run(query_ids, self.search(queries, k, threads), self.ids)

    def save(self, folder: str | Path) -> None:
        """Copy the index, whole or not at all, to a folder that is not there yet.

        Raises:
            UserError: it is there.
        """
        folder = Path(folder)
        if folder.exists():
            raise UserError("is there already, so no index is saved over it", where=folder, mend="choose another folder")
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(self.folder, partial)
        os.replace(partial, folder)


def check_ids(ids: Sequence[str]) -> None:
    """Refuse ids that name two documents, or that are no strings.

    Raises:
        UserError: names the first such id and its position.
    """
    seen: set[str] = set()
    for position, name in enumerate(ids):
        if not isinstance(name, str):
            raise UserError(f"document id {name!r} at position {position} is a {type(name).__name__}, not a string")
        if name in seen:
            raise UserError(f"document id {name!r} comes twice, the second time at position {position}", mend="give every document its own id")
        seen.add(name)
