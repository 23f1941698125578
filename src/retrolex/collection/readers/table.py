"""Rows of fields (CSV, TSV) as documents, with or without a header."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from retrolex.collection.readers.columns import HOW, NAMES, choose, document_of, place_id
from retrolex.collection.readers.records import Columns, Place, Record, Reject
from retrolex.errors import UserError
from retrolex.progress import say

LOOK_AHEAD = 64  # rows: enough to see how many columns a file without a header has
HEADERLESS = {1: ("text",), 2: ("id", "text"), 3: ("id", "title", "text")}


class Row(NamedTuple):
    """One row's fields."""

    place: Place
    fields: list[str]


def read_table(rows: Iterator[Row | Reject], wanted: Columns, files: int, *, tabs_are_text: bool = False) -> Iterator[Record]:
    """The documents of one file.

    A first row that holds one of the usual column names and no number, or all of the names wanted, is a header. Without a header, one column
    is the text, two are id and text, three are id, title and text. Wanted columns are names or numbers, counted from 1.

    Args:
        rows: the file's rows.
        wanted: part of the document -> column name, or number.
        files: how many files the source has.
        tabs_are_text: whether surplus fields are the rest of a text that holds tabs, when the text is the last column.

    Raises:
        UserError: the columns cannot be told apart, or a row has no id.
    """
    start = list(islice(rows, LOOK_AHEAD))
    readable = [row for row in start if isinstance(row, Row)]
    if not readable:
        yield from (row for row in chain(start, rows) if isinstance(row, Reject))
        return
    names = [field.strip() for field in readable[0].fields]
    header = readable[0] if _is_header(names, wanted) else None
    if header is None:
        names = _headerless(_usual_width(readable), wanted, readable[0].place)
    elif repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(f"the column name {repeated[0]!r} occurs twice in the header", where=header.place, mend="give every column its own name")
    elif wanted and _by_number(wanted):
        names = [str(number) for number in range(1, len(names) + 1)]
    columns = choose(names, wanted, readable[0].place)
    if columns.id is None:
        say(f"{readable[0].place.file}: no id column, so line numbers serve as ids")
    joins = tabs_are_text and names[-1] == columns.text
    for row in chain(start, rows):
        if isinstance(row, Reject):
            yield row
        elif row is not header:
            fields = row.fields
            if joins and len(fields) > len(names):
                fields = [*fields[: len(names) - 1], "\t".join(fields[len(names) - 1 :])]
            if len(fields) != len(names):
                yield Reject(row.place, f"{len(fields)} fields, {len(names)} were expected")
                continue
            yield document_of(dict(zip(names, fields, strict=True)), columns, row.place, place_id(row.place, files))


def _is_header(names: list[str], wanted: Columns) -> bool:
    usual = {name for candidates in NAMES.values() for name in candidates}
    numbers = any(name.isdigit() for name in names)  # a first document `7, title` is no header
    return not _by_number(wanted) or (not usual.isdisjoint(map(str.lower, names)) and not numbers)


def _by_number(wanted: Columns) -> bool:
    """Whether columns are wanted by their numbers, or none is wanted."""
    return all(name.isdigit() for name in wanted.values())


def _usual_width(rows: list[Row]) -> int:
    """The commonest number of fields; of equally common ones the smallest, since a text may hold a delimiter."""
    counts = Counter(len(row.fields) for row in rows)
    return min(counts, key=lambda width: (-counts[width], width))


def _headerless(width: int, wanted: Columns, place: Place) -> list[str]:
    if wanted:
        return [str(number) for number in range(1, width + 1)]
    if width not in HEADERLESS:
        mend = f"say which column is which, by its name in the first row or its number from 1: {HOW}"
        raise UserError(f"{width} columns, and no name in the first row tells which is the text", where=place, mend=mend)
    say(f"{place.file}: no header with the usual names, so the columns are taken for {', '.join(HEADERLESS[width])}")
    return list(HEADERLESS[width])
