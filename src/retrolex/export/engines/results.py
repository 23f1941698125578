"""What every engine that runs gives back, and how it becomes the embedded index's order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

TIES = 64  # hits asked for beyond k, so that documents with equal scores at the cut come in the collection's order


class Hit(NamedTuple):
    """One document found; `score` is the embedded index's."""

    id: str
    position: int
    score: float


def best(hits: Iterable[Hit], k: int) -> list[tuple[str, float]]:
    """The first `k` by falling score, equal scores by position in the collection: a list of a `Run`."""
    ranked = sorted(hits, key=lambda hit: (-hit.score, hit.position))
    return [(hit.id, hit.score) for hit in ranked[:k]]


def inner_product(score: float) -> float:
    """The inner product behind the score of engines on Lucene, whose scores have to be positive: d + 1 above zero, 1 / (1 - d) below."""
    return score - 1 if score >= 1 else 1 - 1 / score
