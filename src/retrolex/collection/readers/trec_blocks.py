"""SGML as TREC writes it: a file of blocks (<DOC>...</DOC>, <top>...</top>) of elements that need not be closed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from retrolex.collection.readers.lines import NOT_UTF8, open_bytes, open_raw
from retrolex.collection.readers.records import Place, Reject
from retrolex.errors import UserError

MARKUP = re.compile(rb"<[^<>]*>")


class Block(NamedTuple):
    """One block: where it begins, the attributes of its opening tag, and what stands between the two tags."""

    place: Place
    attributes: str
    text: str


def begins_with(path: Path, names: str) -> bool:
    """Whether a file's first tag, XML declarations aside, is one of these (a regular expression).

    Raises:
        UserError: the file cannot be read, or is damaged.
    """
    with open_raw(path) as file:
        start = file.read(4096)
    return re.match(rb"(?:\xef\xbb\xbf)?\s*(?:<[?!][^<>]*>\s*)*<(?:%s)[\s>]" % names.encode(), start, re.IGNORECASE) is not None


def blocks(path: Path, names: str) -> Iterator[Block | Reject]:
    """The blocks of a file, one in memory at a time. Text outside of any block, and a block that is not UTF-8, is a reject.

    Args:
        path: a file; it may end in .gz.
        names: the tags that make a block, a regular expression, in any case.

    Raises:
        UserError: a block that is not closed.
    """
    tag = re.compile(rb"<(/?)(?:%s)(\s[^<>]*)?>" % names.encode(), re.IGNORECASE)
    opened: Place | None = None
    attributes, held = b"", []
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            here, start = Place(str(path), number), 0
            for match in tag.finditer(line):
                before, start = line[start : match.start()], match.end()
                if not match[1]:
                    if opened is not None:
                        raise _unclosed(opened)
                    yield from _outside(before, here)
                    opened, attributes, held = here, match[2] or b"", []
                elif opened is not None:
                    yield _block(opened, attributes, [*held, before])
                    opened = None
                else:
                    yield from _outside(before, here)
            if opened is None:
                yield from _outside(line[start:], here)
            else:
                held.append(line[start:])
    if opened is not None:
        raise _unclosed(opened)


def _outside(text: bytes, place: Place) -> Iterator[Reject]:
    rest = MARKUP.sub(b"", text.removeprefix(b"\xef\xbb\xbf"))
    if rest.strip():
        yield Reject(place, f"text outside of the blocks: {rest.strip()[:60]!r}")


def _block(place: Place, attributes: bytes, held: list[bytes]) -> Block | Reject:
    try:
        return Block(place, attributes.decode(), b"".join(held).decode())
    except UnicodeDecodeError:
        return Reject(place, NOT_UTF8)


def _unclosed(place: Place) -> UserError:
    return UserError(
        "a block begins here that is not closed before the next one, or the file's end", where=place, mend="close it, or copy the file again"
    )
