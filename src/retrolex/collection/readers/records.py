"""What a reader yields: something found, with its place, or a row that had to be skipped, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from retrolex.collection.documents import Document, Judgment, Query


class Place(NamedTuple):
    """Where a row stands: a file and a line, counted from 1 (in Parquet files: the row)."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Found(NamedTuple):
    """A document, a query or a judgment, and where it stands."""

    item: Document | Query | Judgment
    place: Place


class Reject(NamedTuple):
    """A row that is skipped, and why."""

    place: Place
    reason: str


Record = Found | Reject
Columns = dict[str, str]
"""`id`, `title` or `text` -> the name the source has for it; empty when the names are to be recognised.
TREC topics have parts instead: `query` -> `title`, `desc`, `narr`, or several joined by `+`."""


def shortened(value: object, longest: int = 80) -> str:
    """A value as a message quotes it: `repr`, cut in the middle of what no screen could hold."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[: longest // 2]} ... {text[-longest // 4 :]} ({len(text):,} characters)"


@dataclass(frozen=True)
class Reader:
    """One format.

    Args:
        about: one line on what it reads.
        files: the source's files, in reading order; together their bytes decide what is read.
        read: yields documents first, then queries, then judgments. Row by row, so that memory does not grow with the source.
            Raises UserError, with file and line, for what the user has to mend.
        has_columns: whether the user can say which column is which.
        identity: what decides the contents of a source that has no files of its own: a name, and versions; None for one that has.
    """

    about: str
    files: Callable[[Path], list[Path]]
    read: Callable[[Path, Columns], Iterator[Record]]
    has_columns: bool = False
    identity: Callable[[Path], dict[str, Any] | None] = lambda _: None
