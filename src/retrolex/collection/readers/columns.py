"""Which column is the id, which the title, which the text; and a row of them as a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from retrolex.collection.documents import Document, Query
from retrolex.collection.readers.records import Columns, Found, Place, Reject, shortened
from retrolex.errors import UserError

NAMES = {
    "id": ("_id", "id", "docid", "doc_id", "docno", "pid"),
    "title": ("title",),
    "text": ("text", "contents", "content", "body", "passage", "abstract"),
}
QUERY_NAMES = {
    "id": ("_id", "id", "qid", "query_id", "query-id", "queryid"),
    "title": (),
    "text": ("text", "query", "question", "title", "contents"),
}


HOW = "--set 'collection.columns.text=NAME' (and .id, .title; with `retrolex check`: --column text=NAME)"


class Chosen(NamedTuple):
    """The source's names; `id` is None where no column holds ids, and places serve instead; `title` is None where it is the text."""

    id: str | None
    title: str | None
    text: str


def choose(found: Iterable[str], wanted: Columns, place: Place, names: dict[str, tuple[str, ...]] = NAMES) -> Chosen:
    """Pick the columns among the names `found` in the first row: those `wanted`, else the first that is usual among `names`.

    Raises:
        UserError: a wanted column is not there, or none that could hold the text.
    """
    found = list(found)
    usual = {name.strip().lower(): name for name in reversed(found)}
    unknown = sorted(set(wanted) - set(NAMES))
    if unknown:
        raise UserError(f"columns can be named for id, title and text, not for {', '.join(unknown)}")
    for part, name in wanted.items():
        if name not in found:
            raise UserError(f"no column {name!r} for the {part}; there are: {', '.join(found)}", where=place, mend="name another column")
    chosen = {part: wanted.get(part) or next((usual[name] for name in known if name in usual), None) for part, known in names.items()}
    if chosen["text"] is None:
        mend = f"say which column holds the text by {HOW}, or call it one of: {', '.join(names['text'])}"
        raise UserError(f"no column that could be the text; there are: {', '.join(found) or 'none'}", where=place, mend=mend)
    title = chosen["title"] or "title"  # other rows of JSON lines may have one
    return Chosen(chosen["id"], None if title == chosen["text"] else title, chosen["text"])


def id_of(row: Mapping[str, Any], name: str, place: Place) -> str:
    """The id as `str`, exactly as the source has it.

    Raises:
        UserError: it is missing, empty, or neither text nor a whole number.
    """
    value = row.get(name)
    if value is None or (isinstance(value, str) and (not value or value.isspace())):
        raise UserError(f"a row without an id: {name!r} is missing or empty", where=place, mend=f"give every row its own {name!r}")
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise UserError(f"the id {shortened(value)} is neither text nor a whole number", where=place, mend="write ids as strings")
    return str(value)


def text_of(row: Mapping[str, Any], name: str | None) -> str:
    """A text value: null, NaN and absent are empty, numbers are written out.

    Raises:
        TypeError: a list, an object or a truth value.
    """
    value = row.get(name) if name is not None else None
    if isinstance(value, bool) or not isinstance(value, (str, int, float, type(None))):
        raise TypeError(f"{name!r} holds {type(value).__name__}, text was expected")
    return "" if value is None or value != value else str(value)  # NaN, which is how pandas writes null


def document_of(row: Mapping[str, Any], columns: Chosen, place: Place, place_id: str) -> Found | Reject:
    """A row as a document, with `place_id` for its id where the source has no ids; a reject when it holds no text value."""
    id = place_id if columns.id is None else id_of(row, columns.id, place)
    if columns.text not in row and columns.title not in row:
        return Reject(place, f"document {shortened(id)} has neither {columns.text!r} nor {columns.title!r}")
    try:
        return Found(Document(id, text_of(row, columns.title), text_of(row, columns.text)), place)
    except TypeError as error:
        return Reject(place, f"document {shortened(id)}: {error}")


def query_of(id: str, text: str, place: Place) -> Found | Reject:
    """A query; a reject when it asks nothing."""
    return Found(Query(id, text), place) if text.strip() else Reject(place, f"query {shortened(id)} is empty")


def query_of_row(row: Mapping[str, Any], columns: Chosen, place: Place) -> Found | Reject:
    """A row as a query; a reject when it holds no text value.

    Raises:
        UserError: it has no id.
    """
    id = id_of(row, columns.id or "_id", place)
    try:
        return query_of(id, text_of(row, columns.text), place)
    except TypeError as error:
        return Reject(place, f"query {shortened(id)}: {error}")


def place_id(place: Place, files: int) -> str:
    """The id of a row of a source without ids: its line number, after the file's name when there are several files."""
    return str(place.line) if files == 1 else f"{Path(place.file).name}:{place.line}"
