"""Tab-separated values without any quoting: a quotation mark is text. MS MARCO's collection.tsv is such a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.readers.files import files_of_kind
from retrolex.collection.readers.lines import read_lines
from retrolex.collection.readers.records import Columns, Reader, Record, Reject
from retrolex.collection.readers.table import Row, read_table


def files(source: Path) -> list[Path]:
    """The file itself, or the .tsv files of a folder by name."""
    return files_of_kind(source, (".tsv",))


def _rows(path: Path) -> Iterator[Row | Reject]:
    for line in read_lines(path):
        yield line if isinstance(line, Reject) else Row(line.place, line.text.split("\t"))


def read(source: Path, wanted: Columns) -> Iterator[Record]:
    """The documents; tabs beyond the columns belong to the text where the text comes last."""
    paths = files(source)
    for path in paths:
        yield from read_table(_rows(path), wanted, len(paths), tabs_are_text=True)


READER = Reader("tab-separated values, no quoting, with or without a header", files, read, has_columns=True)
