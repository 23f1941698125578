"""Where hard negatives come from: an index that is asked, or a run that somebody made before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.ranked import Ranked
from retrolex.index.base import Hits

Search = Callable[[list[str], int], list[Hits]]
"""Query texts and depth to positions and scores; the search of a BM25 index, or of an encoder in front of an index."""


class Pool(Protocol):
    """A retriever's candidates for every query."""

    @property
    def name(self) -> str:
        """The miner's, for the provenance of each negative."""
        ...

    @property
    def first(self) -> int:
        """The best rank that is sampled, from 1."""
        ...

    @property
    def depth(self) -> int:
        """The worst rank that is sampled."""
        ...

    def hits(self, blocks: Iterable[Sequence[Pair]]) -> Iterator[list[Hits | None]]:
        """For each block of pairs, positions and scores of each pair's query, best first; a position below 0 is a document that is not in
        the collection; None for a query that was never searched."""
        ...


def queries_of(pairs: Sequence[Pair]) -> list[str]:
    """The texts of the pairs' queries; one that several pairs ask is there once."""
    return list(dict.fromkeys(pair.query for pair in pairs))


@dataclass(frozen=True)
class SearchPool:
    """An index of the collection itself, asked as the negatives are needed."""

    name: str
    search: Search
    first: int = 1
    depth: int = 100

    def hits(self, blocks: Iterable[Sequence[Pair]]) -> Iterator[list[Hits | None]]:
        """See `Pool`."""
        for pairs in blocks:
            texts = queries_of(pairs)
            found = dict(zip(texts, self.search(texts, self.depth), strict=True))
            yield [found[pair.query] for pair in pairs]


@dataclass(frozen=True)
class RunPool:
    """A finished run, looked up by query id."""

    name: str
    ranked: Ranked
    first: int = 1
    depth: int = 100

    def hits(self, blocks: Iterable[Sequence[Pair]]) -> Iterator[list[Hits | None]]:
        """See `Pool`."""
        for pairs in blocks:
            yield [self._hits(pair.query_id) if pair.query_id in self.ranked else None for pair in pairs]

    def _hits(self, query: str) -> Hits:
        positions, scores = self.ranked[query]
        return positions[: self.depth], scores[: self.depth]
