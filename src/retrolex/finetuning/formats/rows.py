"""The form in which every format of training rows is read and written: a query, what answers it, and what does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from retrolex.collection.readers.records import Place, Reject


@dataclass(frozen=True)
class Passage:
    """A document of a training row.

    Attributes:
        id: empty in formats without ids.
        text: None in formats that only name documents, until they are looked up.
        title: empty in formats that join it to the text.
        score: how relevant a teacher finds it; None when nobody was asked.
        miner, rank, mined_score: of a negative, who found it, where in its ranking, and with what score; empty and 0 when unknown.
    """

    id: str = ""
    text: str | None = None
    title: str = ""
    score: float | None = None
    miner: str = ""
    rank: int = 0
    mined_score: float = 0.0

    @property
    def full(self) -> str:
        """Title and text joined by one space; one part alone when the other is empty."""
        return f"{self.title} {self.text or ''}".strip() if self.title else self.text or ""


@dataclass(frozen=True)
class Row:
    """One training row.

    Attributes:
        query_id, query: id, empty in formats without ids, and text, None in formats that only name the query.
        place: where it was read.
    """

    query_id: str
    query: str | None
    positives: tuple[Passage, ...]
    negatives: tuple[Passage, ...]
    place: Place | None = field(default=None, compare=False)


Read = Callable[[Path], Iterator[Row | Reject]]
Write = Callable[[Path, Iterable[Row]], dict[str, int]]


@dataclass(frozen=True)
class Format:
    """One format of training rows.

    Attributes:
        about: one line on what it is.
        read: the rows of a file. Raises UserError, with file and line, for a row that is not of the format.
        write: rows to a file, whole or, after a UserError, partly: `write_rows` sees to it that nobody finds half of one. Returns
            counts: ``rows`` (lines) and, by name, everything that is not written as it was given.
        texts: whether rows carry the texts of documents; otherwise they name them.
        queries: whether rows carry the texts of queries.
        grouped: whether a row can hold several positives, so that a query is best written as one row.
        suffixes: what its files' names end in.
    """

    about: str
    read: Read
    write: Write
    texts: bool = True
    queries: bool = True
    grouped: bool = True
    suffixes: tuple[str, ...] = (".jsonl",)
