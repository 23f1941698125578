"""The words everything else speaks in: a document, a query, a judgment."""

from __future__ import annotations

from typing import NamedTuple

Queries = dict[str, str]
"""Query id -> query text."""

Qrels = dict[str, dict[str, int]]
"""Query id -> document id -> grade; a grade of 1 or more means relevant."""


class Document(NamedTuple):
    """One document: the unit that is encoded, indexed, found and judged."""

    id: str
    title: str
    text: str

    @property
    def full(self) -> str:
        """Title and text joined by one space; one part alone when the other is empty."""
        return self.joined(" ")

    def joined(self, separator: str) -> str:
        """Title and text with a separator of one's own between them; one part alone when the other is empty."""
        return f"{self.title}{separator}{self.text}".strip() if self.title and self.text else (self.title or self.text).strip()


class Query(NamedTuple):
    """What somebody asks."""

    id: str
    text: str


class Judgment(NamedTuple):
    """One line of qrels: how relevant a document is to a query, in one split (train, dev, test, ...)."""

    split: str
    query: str
    document: str
    grade: int
