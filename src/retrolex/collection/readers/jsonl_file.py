"""JSON lines: one object a line, in one file or in all the .jsonl files of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from retrolex.collection.readers.columns import NAMES, Chosen, choose, document_of, place_id
from retrolex.collection.readers.files import files_of_kind
from retrolex.collection.readers.lines import read_lines
from retrolex.collection.readers.records import Columns, Place, Reader, Record, Reject
from retrolex.errors import UserError
from retrolex.progress import say

KINDS = (".jsonl", ".ndjson", ".json")


class Row(NamedTuple):
    """One line's object."""

    place: Place
    values: dict[str, Any]


def read_objects(path: Path) -> Iterator[Row | Reject]:
    """The objects of one file.

    Raises:
        UserError: a line that is not JSON, is nested too deep, or holds something else than an object.
    """
    for line in read_lines(path):
        if isinstance(line, Reject):
            yield line
            continue
        mend = "write one JSON object a line, without line breaks inside it"
        try:
            values = json.loads(line.text, strict=False)  # lenient: raw control characters inside strings lose nothing
        except (ValueError, RecursionError) as error:
            raise UserError(f"a line that is not JSON, or nested too deep: {str(error)[:200]}", where=line.place, mend=mend) from None
        if not isinstance(values, dict):
            raise UserError(f"a JSON object was expected, not {type(values).__name__}", where=line.place, mend=mend)
        yield Row(line.place, values)


def read(source: Path, wanted: Columns) -> Iterator[Record]:
    """The documents; the first row decides which keys are the id and the text."""
    paths = files(source)
    columns: Chosen | None = None
    for row in (row for path in paths for row in read_objects(path)):
        if isinstance(row, Reject):
            yield row
            continue
        if columns is None:
            columns = choose(row.values, wanted, row.place)
            if columns.id is None:
                say(f"{source}: no id in the rows, so their line numbers serve as ids")
        elif columns.id is None and any(name.lower() in NAMES["id"] for name in row.values):
            raise UserError("a row with an id, where the first row has none", where=row.place, mend="give every row an id, or none")
        yield document_of(row.values, columns, row.place, place_id(row.place, len(paths)))


def files(source: Path) -> list[Path]:
    """The file itself, or the JSON lines files of a folder by name."""
    return files_of_kind(source, KINDS)


READER = Reader("JSON lines, one file or a folder of them", files, read, has_columns=True)
