"""MS MARCO's training material: triples of ids or of texts, and the first thousand passages of a query; read line by line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from retrolex.collection.readers.files import existing
from retrolex.collection.readers.lines import read_lines
from retrolex.collection.readers.records import Place, Reject
from retrolex.errors import UserError


class Triple(NamedTuple):
    """A query, a relevant document and one that is not: ids (`qidpidtriples`) or texts (`triples.train`), and where it was read."""

    query: str
    positive: str
    negative: str
    place: Place


class Candidate(NamedTuple):
    """One passage that a first search found for a query (`top1000`), to be ranked anew."""

    query_id: str
    document_id: str
    query: str
    passage: str


def read_triples(path: str | Path, ids: bool) -> Iterator[Triple | Reject]:
    """The triples of a file, in its order: three columns, tab-separated; of ids, separated by spaces where there is no tab.

    Memory does not grow with the file. It may end in .gz.

    Args:
        ids: whether the columns are ids, which cannot be empty; a text can.

    Raises:
        UserError: with file and line, when a line does not have three columns, or an id is empty.
    """
    names = ("query id", "positive id", "negative id") if ids else ("query", "positive", "negative")
    for line in read_lines(existing(Path(path))):
        if isinstance(line, Reject):
            yield line
        elif ids:
            fields = line.text.split("\t") if "\t" in line.text else line.text.split()
            yield Triple(*_filled([field.strip() for field in fields], names, line.place), line.place)
        else:
            yield Triple(*_counted(line.text.split("\t"), names, line.place), line.place)


def read_top1000(path: str | Path) -> Iterator[Candidate | Reject]:
    """The candidates of a file, in its order: query id, document id, query, passage, tab-separated; further tabs belong to the passage.

    Memory does not grow with the file. It may end in .gz.

    Raises:
        UserError: with file and line, when a line does not have four columns with something in them.
    """
    names = ("query id", "document id", "query", "passage")
    for line in read_lines(existing(Path(path))):
        yield line if isinstance(line, Reject) else Candidate(*_filled(line.text.split("\t", 3), names, line.place))


def _counted(fields: list[str], names: tuple[str, ...], place: Place) -> list[str]:
    if len(fields) != len(names):
        mend = "take tabs out of the texts" if len(fields) > len(names) else f"write {', '.join(names)}, separated by tabs"
        raise UserError(f"{len(fields)} columns, expected {len(names)} between tabs: {', '.join(names)}", where=place, mend=mend)
    return fields


def _filled(fields: list[str], names: tuple[str, ...], place: Place) -> list[str]:
    for name, field in zip(names, _counted(fields, names, place), strict=True):
        if not field.strip():
            raise UserError(f"the {name} is empty", where=place, mend=f"write {', '.join(names)}, separated by tabs")
    return fields
