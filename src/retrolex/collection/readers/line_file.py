"""A text file with one document a line; the line number is the id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.documents import Document
from retrolex.collection.readers.columns import place_id
from retrolex.collection.readers.files import files_of_kind
from retrolex.collection.readers.lines import read_lines
from retrolex.collection.readers.records import Columns, Found, Reader, Record, Reject


def files(source: Path) -> list[Path]:
    """The file itself, or the .txt files of a folder by name."""
    return files_of_kind(source, (".txt",))


def read(source: Path, _: Columns) -> Iterator[Record]:
    """One document for every line with a visible character."""
    paths = files(source)
    for path in paths:
        for line in read_lines(path):
            yield line if isinstance(line, Reject) else Found(Document(place_id(line.place, len(paths)), "", line.text), line.place)


READER = Reader("one document a line", files, read)
