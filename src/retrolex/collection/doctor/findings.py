"""What the doctor says: findings, each with a count, three examples and the mend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from retrolex.collection.readers.records import Place

EXAMPLES = 3

Severity = Literal["error", "warning", "note"]
"""`error`: `retrolex run` stops at it, or measures nothing; `warning`: text or figures suffer; `note`: good to know."""


class Example(NamedTuple):
    """One place where a finding shows."""

    place: Place
    what: str


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, or good to know.

    Attributes:
        name: what was found, in a few words.
        severity: how bad it is.
        count: how often it was found.
        examples: the first of them, EXAMPLES at most.
        mend: what to do about it, in one sentence.
    """

    name: str
    severity: Severity
    count: int
    examples: tuple[Example, ...]
    mend: str


class Tally:
    """Counts, and keeps the first few examples."""

    def __init__(self) -> None:
        self.count = 0
        self.examples: list[Example] = []

    def add(self, place: Place, what: str) -> None:
        """One more."""
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(Example(place, what))

    def finding(self, name: str, severity: Severity, mend: str) -> list[Finding]:
        """The finding, or nothing where nothing was counted."""
        return [Finding(name, severity, self.count, tuple(self.examples), mend)] if self.count else []
