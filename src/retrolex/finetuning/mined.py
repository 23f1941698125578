"""Hard negatives on disk: what is known of each, and the options that decide which are taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from sys import intern
from typing import Literal

from retrolex.errors import UserError

NEGATIVES = "negatives.jsonl"
RANDOM = "random"  # the miner's name of documents that were drawn blindly


@dataclass(frozen=True, slots=True)
class Negative:
    """A document that does not answer a query, and how it was found.

    Attributes:
        document, original: its id, and the id of the first document with the same text.
        miner: the name of the run that ranked it; ``random`` when it only fills a gap.
        rank, score: place in that run, from 1, and score; 0 for random ones.
    """

    document: str
    original: str
    miner: str
    rank: int
    score: float


NAMES = tuple(field.name for field in fields(Negative))


@dataclass(frozen=True)
class MiningOptions:
    """Which ranks to sample from, and what is too good to be a negative.

    Attributes:
        per_query: negatives a pair, spread evenly over the pools.
        first, depth: best and worst rank that is sampled, positives included in the counting.
        seed: of the sample.
        sampling: ``random`` among the candidates, or ``top``: the best ranked of them.
        absolute_margin, relative_margin: a negative scores at least so much, or such a share of the positive's score, below
            the positive in the same pool (NV-Retriever, Moreira et al. 2024, section 3); None: no such filter.
        teacher_margin: a negative's teacher score lies at least so much below the positive's; None: no such filter.
    """

    per_query: int = 7
    first: int = 1
    depth: int = 100
    seed: int = 42
    sampling: Literal["random", "top"] = "random"
    absolute_margin: float | None = None
    relative_margin: float | None = None
    teacher_margin: float | None = None


def line_of(negatives: list[Negative]) -> str:
    """One pair's negatives as a line of the file."""
    return json.dumps([{name: getattr(negative, name) for name in NAMES} for negative in negatives], ensure_ascii=False) + "\n"


def stream_negatives(path: Path) -> Iterator[list[Negative]]:
    """What mining wrote, one list a pair, a line at a time.

    Raises:
        UserError: no such file, or a line that holds something else.
    """
    if not path.exists():
        raise UserError("no negatives here", where=path, mend="run the stage that mines them first")
    with open(path, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            try:
                rows = json.loads(line)
                yield [Negative(intern(row["document"]), intern(row["original"]), intern(row["miner"]), row["rank"], row["score"]) for row in rows]
            except (json.JSONDecodeError, TypeError, KeyError) as error:
                raise UserError(f"not a list of negatives: {error}", where=f"{path}:{number}", mend="mine them again") from None


def read_negatives(path: Path) -> list[list[Negative]]:
    """All of `stream_negatives`."""
    return list(stream_negatives(path))
