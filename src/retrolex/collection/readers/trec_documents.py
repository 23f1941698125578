"""TREC documents: <DOC> blocks with a <DOCNO>, a headline under one of many names, and text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from retrolex.collection.documents import Document
from retrolex.collection.readers.html_text import read_html, unescape
from retrolex.collection.readers.records import Found, Record, Reject
from retrolex.collection.readers.trec_blocks import Block, blocks
from retrolex.errors import UserError

BLOCK = "doc"
TITLES = ("title", "headline", "head", "hl", "ti", "ttl", "doctitle")
TEXTS = ("text", "leadpara", "lp")
HEADERS = ("docno", "docid", "docoldno", "dochdr")
TAG = re.compile(rf"<(/?)({'|'.join((*TITLES, *TEXTS, *HEADERS))})(?:\s[^<>]*)?>", re.IGNORECASE)


class Element(NamedTuple):
    """One of the elements above: its name, where it begins and ends, and what is inside."""

    name: str
    start: int
    end: int
    inside: str


def elements(text: str) -> list[Element]:
    """The innermost elements that are opened and closed, in order."""
    found, opened = [], None
    for tag in TAG.finditer(text):
        name = tag[2].lower()
        if not tag[1]:
            if opened is None or opened[0] not in TEXTS or name in HEADERS:  # a headline inside of the text stays there
                opened = name, tag.start(), tag.end()
        elif opened is not None and opened[0] == name:
            found.append(Element(name, opened[1], tag.end(), text[opened[2] : tag.start()]))
            opened = None
    return found


def read_documents(path: Path) -> Iterator[Record]:
    """The documents of one file: markup dropped, references (`&amp;`) resolved.

    The title is the first headline. The text is that of the <TEXT> and <LEADPARA> elements; of everything else than
    headline and header where there is none.

    Raises:
        UserError: a document without a DOCNO, or one that is not closed.
    """
    for block in blocks(path, BLOCK):
        yield block if isinstance(block, Reject) else Found(document_of(block), block.place)


def document_of(block: Block) -> Document:
    """A block as a document.

    Raises:
        UserError: it has no DOCNO.
    """
    parts = elements(block.text)
    id = next((unescape(part.inside).strip() for part in parts if part.name == "docno"), "")
    if not id:
        raise UserError("a document without an id: <DOCNO> is missing or empty", where=block.place, mend="give every document its own <DOCNO>")
    title = next((part for part in parts if part.name in TITLES), None)
    body = [part.inside for part in parts if part.name in TEXTS] or [
        _without(block.text, [part for part in parts if part.name in HEADERS or part is title])
    ]
    heading = " ".join(read_html(title.inside).text.split()) if title else ""
    return Document(id, heading, "\n".join(filter(None, (read_html(part).text for part in body))))


def _without(text: str, parts: list[Element]) -> str:
    starts = [0, *(part.end for part in parts)]
    ends = [*(part.start for part in parts), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True))
