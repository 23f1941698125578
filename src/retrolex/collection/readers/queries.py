"""Queries in lines `id TAB text`, and queries that stand in several files of a source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.documents import Query
from retrolex.collection.readers.columns import query_of
from retrolex.collection.readers.lines import read_lines
from retrolex.collection.readers.records import Found, Place, Record, Reject, shortened
from retrolex.errors import UserError


def read_queries(path: Path) -> Iterator[Record]:
    """The queries of one file, an id and a text a line; further tabs belong to the text. There is no header.

    Raises:
        UserError: a line without an id.
    """
    for line in read_lines(path):
        if isinstance(line, Reject):
            yield line
            continue
        id, tab, text = line.text.partition("\t")
        if not id.strip():
            raise UserError("a query without an id", where=line.place, mend="write the id, a tab, and the query")
        yield query_of(id, text, line.place) if tab else Reject(line.place, f"no tab after the query's id {shortened(id)}")


def each_once(records: Iterator[Record]) -> Iterator[Record]:
    """The records, a query that stood in an earlier file with the same id and the same text turned into a reject.

    MS MARCO's `queries.dev.small.tsv`, for one, repeats a part of `queries.dev.tsv`. Within one file nothing is changed.
    """
    seen: dict[str, tuple[str, Place]] = {}
    for record in records:
        if isinstance(record, Found) and isinstance(record.item, Query):
            text, first = seen.setdefault(record.item.id, (record.item.text, record.place))
            if first.file != record.place.file and text == record.item.text:
                record = Reject(record.place, f"the same query as at {first}")
        yield record
