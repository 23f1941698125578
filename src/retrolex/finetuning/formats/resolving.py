"""Looking up the texts that a format only names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from retrolex.collection import Collection
from retrolex.collection.readers.records import Place, Reject
from retrolex.finetuning.formats.rows import Passage, Row

NOWHERE = Place("rows", 0)


def resolve(rows: Iterable[Row | Reject], collection: Collection) -> Iterator[Row | Reject]:
    """The rows with all texts; one that names a query or document that is not in the collection becomes a reject."""
    for row in rows:
        yield row if isinstance(row, Reject) else _resolved(row, collection)


def _resolved(row: Row, collection: Collection) -> Row | Reject:
    query = collection.queries.get(row.query_id) if row.query is None else row.query
    if query is None:
        return Reject(row.place or NOWHERE, f"no query {row.query_id!r} in the collection")
    for passage in (*row.positives, *row.negatives):
        if passage.text is None and passage.id not in collection:
            return Reject(row.place or NOWHERE, f"no document {passage.id!r} in the collection")
    positives, negatives = (tuple(_with_text(passage, collection) for passage in part) for part in (row.positives, row.negatives))
    return replace(row, query=query, positives=positives, negatives=negatives)


def _with_text(passage: Passage, collection: Collection) -> Passage:
    if passage.text is not None:
        return passage
    document = collection[collection.position(passage.id)]
    return replace(passage, title=document.title, text=document.text)
