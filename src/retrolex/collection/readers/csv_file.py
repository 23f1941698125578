"""Comma-separated values with quoting; the delimiter (comma, semicolon, bar or tab) is the commonest in the first line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.readers.files import files_of_kind
from retrolex.collection.readers.lines import NOT_UTF8, open_bytes
from retrolex.collection.readers.records import Columns, Place, Reader, Record, Reject
from retrolex.collection.readers.table import Row, read_table
from retrolex.errors import UserError

DELIMITERS = ",;|\t"
LONGEST_FIELD = 1 << 28  # characters; the csv module refuses fields over 131,072 unless told otherwise
NUL = "\udc00"  # stands for NUL, which the csv module of Python 3.10 refuses; no decoded text can hold it


def files(source: Path) -> list[Path]:
    """The file itself, or the .csv files of a folder by name."""
    return files_of_kind(source, (".csv",))


def _rows(path: Path) -> Iterator[Row | Reject]:
    """The rows, a row that spans several lines placed at its first.

    Bytes that are not UTF-8 are carried through as surrogates (PEP 383), so that they cost their row and no other.
    """
    csv.field_size_limit(LONGEST_FIELD)
    with open_bytes(path) as file, io.TextIOWrapper(file, "utf-8-sig", errors="surrogateescape", newline="") as text:
        first = text.readline()
        delimiter = max(DELIMITERS, key=first.count)
        lines = (line.replace("\0", NUL) for line in _from(first, text))
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        number = 0
        try:
            for fields in rows:
                place, number = Place(str(path), number + 1), rows.line_num
                if not any(field and not field.isspace() for field in fields):
                    if len(fields) > 1:
                        yield Reject(place, "a row of empty fields")
                    continue
                fields = [field.replace(NUL, "\0") for field in fields]
                bad = any("\udc80" <= character <= "\udcff" for field in fields if not field.isascii() for character in field)
                yield Reject(place, NOT_UTF8) if bad else Row(place, fields)
        except csv.Error as error:
            mend = 'put fields that hold quotation marks, delimiters or line breaks in "..." and double the marks inside'
            raise UserError(f"not a row of comma-separated values: {error}", where=Place(str(path), number + 1), mend=mend) from None


def _from(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def read(source: Path, wanted: Columns) -> Iterator[Record]:
    """The documents of all files, each with its own header."""
    paths = files(source)
    for path in paths:
        yield from read_table(_rows(path), wanted, len(paths))


READER = Reader("comma-separated values with quoting, with or without a header", files, read, has_columns=True)
