"""A folder of .txt, .md and .html files, with its sub-folders: each file is a document, its relative path the id.

Files are UTF-8; an .html file that is not may say what else it is (`<meta charset="windows-1252">`), as browsers have it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.documents import Document
from retrolex.collection.readers.files import files_below
from retrolex.collection.readers.html_text import read_html
from retrolex.collection.readers.lines import NOT_UTF8, kind_of, open_bytes
from retrolex.collection.readers.records import Columns, Found, Place, Reader, Record, Reject
from retrolex.errors import UserError
from retrolex.progress import say

HTML = (".html", ".htm", ".xhtml")
KINDS = (".txt", ".md", ".markdown", *HTML)
CHARSET = re.compile(rb"<meta\s[^<>]{0,200}?charset\s*=\s*[\"']?([-\w]{1,40})", re.IGNORECASE)
CHARSETS = re.compile(
    r"cp125\d|iso8859-\d+|ascii|koi8-[ru]|cp866|gb2312|gbk|gb18030|big5(hkscs)?|shift_jis|cp932|euc_(jp|kr)|cp949|mac-roman|tis-620"
)
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


def decoded(raw: bytes, kind: str) -> str:
    """A file's bytes as text, its line breaks made one kind.

    Raises:
        UnicodeDecodeError: they are not UTF-8, nor what an .html file declares itself to be.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        codec = _declared(raw) if kind in HTML else None
        if codec is None:
            raise
        text = raw.decode(codec)
    return text.replace("\r\n", "\n")


def _declared(raw: bytes) -> str | None:
    """The codec of the encoding that a page declares, when it is one that pages are in."""
    match = CHARSET.search(raw[:4096])
    try:
        name = codecs.lookup(match[1].decode("ascii")).name if match else ""
    except (LookupError, UnicodeDecodeError):
        return None
    if not CHARSETS.fullmatch(name):
        return None
    return "cp1252" if name in ("ascii", "iso8859-1") else name  # what these labels mean on the web


def title_and_text(text: str, kind: str) -> tuple[str, str]:
    """What a file's kind makes of its text."""
    if kind in HTML:
        return read_html(text)
    return ("", text.strip()) if kind == ".txt" else split_heading(text)


def read(source: Path, _: Columns) -> Iterator[Record]:
    """One document for every file, white space at its two ends cut."""
    paths = files(source)
    others = len(files_below(source)) - len(paths)
    if others:
        say(f"{source}: {others} files that are neither .txt, .md nor .html are left alone")
    for path in paths:
        with open_bytes(path) as file:
            raw = file.read()
        try:
            title, body = title_and_text(decoded(raw, kind_of(path)), kind_of(path))
        except UnicodeDecodeError as error:
            yield Reject(Place(str(path), raw.count(b"\n", 0, error.start) + 1), NOT_UTF8)
            continue
        yield Found(Document(path.relative_to(source).as_posix(), title, body), Place(str(path), 1))


READER = Reader("a folder of .txt, .md and .html files, one document each", files, read)
