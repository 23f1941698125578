"""Files as numbered lines of text: gzip by suffix, UTF-8 with or without a byte order mark.

The rule for bytes that are not UTF-8: one such line costs one row, which is listed as a reject; a file that is in
UTF-16 from its first bytes is refused as a whole, since no row of it could be read.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from retrolex.collection.readers.records import Place, Reject
from retrolex.errors import UserError

NOT_UTF8 = "bytes that are not UTF-8"


class Line(NamedTuple):
    """A line without its line break."""

    place: Place
    text: str


def kind_of(path: Path) -> str:
    """The suffix that tells a file's format, in lower case, whether or not it is compressed: `.jsonl` for `a.jsonl.gz`."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


@contextmanager
def open_raw(path: Path) -> Iterator[BinaryIO]:
    """A file's bytes, decompressed when its name ends in .gz.

    Raises:
        UserError: it cannot be read, or is damaged; also while the body of the `with` statement reads on.
    """
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else open(path, "rb") as file:
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"a damaged or cut gzip file: {error}", where=path, mend="copy or compress the file again") from None
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror or error}", where=path) from None


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file of text, decompressed when its name ends in .gz.

    Raises:
        UserError: as `open_raw`, and when the file is in UTF-16.
    """
    with open_raw(path) as file:
        start = file.peek(4096)[:4096]
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or start.count(0) * 4 > len(start):
            raise UserError("text in UTF-16 or no text at all, UTF-8 was expected", where=path, mend="convert the file to UTF-8")
        yield file


def read_lines(path: Path) -> Iterator[Line | Reject]:
    """The lines of a text file; lines without a visible character are no rows, in any format, and are passed over."""
    with open_bytes(path) as file:
        for number, raw in enumerate(file, 1):
            place = Place(str(path), number)
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError:
                yield Reject(place, NOT_UTF8)
                continue
            if text and not text.isspace():
                yield Line(place, text)
