"""TREC topics as queries: the classic form (<num>, <title>, <desc>, <narr>, nothing closed), XML, or lines `id TAB query`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.readers.columns import query_of
from retrolex.collection.readers.html_text import read_html, unescape
from retrolex.collection.readers.queries import read_queries
from retrolex.collection.readers.records import Columns, Found, Record, Reject, shortened
from retrolex.collection.readers.trec_blocks import Block, begins_with, blocks
from retrolex.errors import UserError

BLOCK = "top|topic"
FILE = "top|topic|topics"
PARTS = {
    "title": ("title", "query"),
    "desc": ("desc", "description", "question"),
    "narr": ("narr", "narrative"),
}
PART_OF = {name: part for part, names in PARTS.items() for name in names} | {"num": "num", "number": "num"}
OTHERS = ("head", "dom", "smry", "con", "fac", "def", "subtopic")  # of early and of Web tracks: they end what stands before them
TAG = re.compile(rf"<({'|'.join((*PART_OF, *OTHERS))})(?:\s[^<>]*)?>", re.IGNORECASE)
LABEL = re.compile(r"\s*(?:number|topic|description|narrative|summary)\s*:", re.IGNORECASE)
NUMBER = re.compile(r"""\b(?:number|id)\s*=\s*["']?([^"'\s]+)""", re.IGNORECASE)


def chosen_parts(wanted: Columns) -> list[str]:
    """The parts of a topic that make the query: `title`, unless `query` names others, as `desc` or `title+desc`.

    Raises:
        UserError: a name that is none of them.
    """
    if unknown := sorted(set(wanted) - {"query"}):
        raise UserError(
            f"TREC files have no column for {unknown[0]!r}", mend="name the part of the topics that is the query: query=title, desc or narr"
        )
    parts = wanted.get("query", "title").split("+")
    if unknown := [part for part in parts if part not in PARTS]:
        raise UserError(f"a topic has no part {unknown[0]!r}", mend=f"choose among {', '.join(PARTS)}, or join some by +")
    return parts


def is_topics(path: Path) -> bool:
    """Whether a file holds topics, by its first tag, or by its name where it has none."""
    return begins_with(path, FILE) or (path.name.lower().startswith("topics") and not begins_with(path, "[a-z]+"))


def read_topics(path: Path, parts: list[str]) -> Iterator[Record]:
    """The queries of one file; a topic without the chosen parts is a reject.

    Raises:
        UserError: a topic without a number, or one that is not closed.
    """
    if not begins_with(path, FILE):
        yield from read_queries(path)
        return
    for block in blocks(path, BLOCK):
        yield block if isinstance(block, Reject) else query_of_topic(block, parts)


def query_of_topic(block: Block, parts: list[str]) -> Found | Reject:
    """One topic's query.

    Raises:
        UserError: it has no number.
    """
    texts = _texts(block.text)
    number = NUMBER.search(block.attributes)
    id = unescape(number[1]) if number else texts.get("num", "")
    if not id:
        raise UserError("a topic without a number", where=block.place, mend='write <num> and its number, or <topic number="...">')
    if missing := [part for part in parts if not texts.get(part)]:
        return Reject(block.place, f"topic {shortened(id)} has no {missing[0]}")
    return query_of(id, " ".join(texts[part] for part in parts), block.place)


def _texts(topic: str) -> dict[str, str]:
    """Part -> its text on one line, label (`Description:`) and markup dropped; of a part that occurs twice, the first."""
    tags = list(TAG.finditer(topic))
    texts: dict[str, str] = {}
    for tag, end in zip(tags, [*(tag.start() for tag in tags[1:]), len(topic)], strict=True):
        part = PART_OF.get(tag[1].lower())
        inside = topic[tag.end() : end].partition(f"</{tag[1]}>")[0]
        if part is not None and part not in texts:
            # Not by read_html's own title: a topic's tags are names here, and no page's.
            texts[part] = " ".join(read_html(LABEL.sub("", inside, count=1) if LABEL.match(inside) else inside).text.split())
    return texts
