"""What every engine that runs gives back, and how it becomes the embedded index's order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

TIES = 64  # hits asked for beyond k, so that documents with equal scores at the cut come in the collection's order
GROWTH = 4  # hits are asked for again, so many times as many, where those all have the score of the k-th


class Hit(NamedTuple):
    """One document found; `score` is the embedded index's."""

    id: str
    position: int
    score: float


def best(hits: Iterable[Hit], k: int) -> list[tuple[str, float]]:
    """The first `k` by falling score, equal scores by position in the collection: a list of a `Run`."""
    ranked = sorted(hits, key=lambda hit: (-hit.score, hit.position))
    return [(hit.id, hit.score) for hit in ranked[:k]]


def settled(fetch: Callable[[int], Iterable[Hit]], k: int, most: int | None = None) -> list[tuple[str, float]]:
    """`best` of an engine that orders equal scores as it likes: asked again for more until it is certain which documents are the first `k`.

    Args:
        fetch: the first hits, as many as it is told.
        k: how many are wanted.
        most: that the engine gives at all.
    """
    limit = k + TIES if most is None else min(k + TIES, most)
    while True:
        hits = list(fetch(limit))
        found = best(hits, k)
        if len(hits) < limit or limit == most or min(hit.score for hit in hits) < found[-1][1]:
            return found
        limit = limit * GROWTH if most is None else min(limit * GROWTH, most)


def inner_product(score: float) -> float:
    """The inner product behind the score of engines on Lucene, whose scores have to be positive: d + 1 above zero, 1 / (1 - d) below."""
    return score - 1 if score >= 1 else 1 - 1 / score
