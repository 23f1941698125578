"""Retrievers of finished runs as pools of candidates: they are asked here, or by the processes of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import tee
from pathlib import Path

import numpy as np

from retrolex.cluster import on_ray
from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.pools import queries_of
from retrolex.finetuning.ranked import ABSENT
from retrolex.index.base import Hits
from retrolex.search.systems import System, open_system


@dataclass(frozen=True)
class SystemPool:
    """A retriever of whatever run, whose ids say which documents of this collection it found.

    Attributes:
        base, description: of the retriever, as `open_system` takes them.
        position: of an id in this collection; None for one that is not here.
        engine: ``here``, or ``ray``: a block of queries is a piece of work, done by any machine that sees `base` under the same path.
    """

    name: str
    base: Path
    description: Mapping[str, str]
    position: Callable[[str], int | None]
    first: int
    depth: int
    engine: str = "here"

    def hits(self, blocks: Iterable[Sequence[Pair]]) -> Iterator[list[Hits | None]]:
        """See `Pool`."""
        blocks, asked = tee(blocks)
        work = partial(ask, self.base.resolve(), tuple(self.description.items()), self.depth)
        each = on_ray if self.engine == "ray" else map
        for pairs, ranked in zip(blocks, each(work, map(queries_of, asked)), strict=True):
            found = dict(zip(queries_of(pairs), map(self._hits, ranked), strict=True))
            yield [found[pair.query] for pair in pairs]

    def _hits(self, ranked: list[tuple[str, float]]) -> Hits:
        places = (self.position(id) for id, _ in ranked)
        positions = np.fromiter((ABSENT if place is None else place for place in places), np.int64, len(ranked))
        return positions, np.fromiter((score for _, score in ranked), np.float32, len(ranked))


def ask(base: Path, description: tuple[tuple[str, str], ...], depth: int, texts: list[str]) -> list[list[tuple[str, float]]]:
    """Id and score of the best `depth` documents of each text."""
    run = opened(base, description).search({str(number): text for number, text in enumerate(texts)}, depth)
    return [run.get(str(number), []) for number in range(len(texts))]


@cache
def opened(base: Path, description: tuple[tuple[str, str], ...]) -> System:
    """A retriever, opened once a process."""
    return open_system(dict(description), base)
