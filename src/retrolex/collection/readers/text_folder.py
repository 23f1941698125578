"""A folder of .txt and .md files, with its sub-folders: each file is a document, its relative path the id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.documents import Document
from retrolex.collection.readers.files import files_below
from retrolex.collection.readers.lines import NOT_UTF8, kind_of, open_bytes
from retrolex.collection.readers.records import Columns, Found, Place, Reader, Record, Reject
from retrolex.errors import UserError
from retrolex.progress import say

KINDS = (".txt", ".md", ".markdown")
FENCE = re.compile(r" {0,3}(```|~~~)")


def files(source: Path) -> list[Path]:
    """The text files below a folder, sorted by relative path.

    Raises:
        UserError: there are none.
    """
    paths = [path for path in files_below(source) if kind_of(path) in KINDS]
    if not paths:
        raise UserError(f"no {', '.join(KINDS)} file in this folder or below", where=source)
    return paths


def split_heading(text: str) -> tuple[str, str]:
    """A Markdown text's title and the rest: the first `# heading` outside fenced code, and everything else.

    The heading leaves the text, so that title and text together hold it once; without a heading the title is empty.
    """
    fenced = False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.startswith("# "):
            return line[2:].strip().rstrip("#").rstrip(), "".join(lines[:number] + lines[number + 1 :]).strip()
    return "", text.strip()


def read(source: Path, _: Columns) -> Iterator[Record]:
    """One document for every file, white space at its two ends cut."""
    paths = files(source)
    others = len(files_below(source)) - len(paths)
    if others:
        say(f"{source}: {others} files that are neither .txt nor .md are left alone")
    for path in paths:
        with open_bytes(path) as file:
            raw = file.read()
        try:
            text = raw.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            yield Reject(Place(str(path), raw.count(b"\n", 0, error.start) + 1), NOT_UTF8)
            continue
        title, body = ("", text.strip()) if kind_of(path) == ".txt" else split_heading(text)
        yield Found(Document(path.relative_to(source).as_posix(), title, body), Place(str(path), 1))


READER = Reader("a folder of .txt and .md files, one document each", files, read)
