"""Vectors to measure with: of a model that never was, or of a folder that retrolex encoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from retrolex.encoding.shards import read_shards

TERMS = 30_522
TOPICS, TOPIC_TERMS = 2_000, 320
SHARD = 16_384


@dataclass
class Data:
    """What every engine is given: the same integer impacts, floor(100 v), as CSR [rows, terms] of int32, no zeros, columns ascending."""

    name: str
    documents: sparse.csr_array
    queries: sparse.csr_array

    def query(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Terms and impacts of a query."""
        span = slice(self.queries.indptr[number], self.queries.indptr[number + 1])
        return self.queries.indices[span], self.queries.data[span]


class Synthetic:
    """Documents and queries of a model that never was."""

    def __init__(self, seed: int = 7):
        self.rng = np.random.default_rng(seed)
        self.by_frequency = self.rng.permutation(TERMS)
        share = 1.0 / (np.arange(TERMS) + 30) ** 1.05
        self.general = np.cumsum(share / share.sum())
        share = 1.0 / (np.arange(TERMS) + 40) ** 0.92
        topical = np.cumsum(share / share.sum())
        self.topics = self.by_frequency[self._draw(topical, (TOPICS, TOPIC_TERMS))]
        strength = (1 + np.arange(TOPIC_TERMS) / 10) ** -0.6
        self.within_topic = np.cumsum(strength / strength.sum())

    def _draw(self, cumulative: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return np.minimum(np.searchsorted(cumulative, self.rng.random(shape)), len(cumulative) - 1)

    def rows(self, count: int, topical: int, general: int, scale: float) -> sparse.csr_array:
        """[count, TERMS]: each row draws terms of one topic and general ones; terms drawn twice weigh more."""
        topic = self.rng.integers(TOPICS, size=(count, 1))
        terms = np.concatenate([self.topics[topic, self._draw(self.within_topic, (count, topical))],
                                self.by_frequency[self._draw(self.general, (count, general))]], axis=1)  # fmt: skip
        weights = scale * np.exp(0.8 * self.rng.standard_normal(terms.shape, dtype=np.float32))
        pointers = np.arange(count + 1, dtype=np.int32) * terms.shape[1]
        rows = sparse.csr_array((weights.reshape(-1), terms.reshape(-1).astype(np.int32), pointers), shape=(count, TERMS))
        rows.sum_duplicates()
        rows.data = np.log1p(rows.data)
        return rows

    def documents(self, count: int) -> Iterator[sparse.csr_array]:
        """Shards of a collection."""
        for start in range(0, count, SHARD):
            yield self.rows(min(SHARD, count - start), topical=105, general=52, scale=0.9)


def synthetic(documents: int, queries: int) -> Data:
    """About 130 terms a document from a topic's and from a general Zipf distribution, weights log(1 + x), about 30 terms a query."""
    source = Synthetic()
    rows = sparse.vstack([impacts(shard) for shard in source.documents(documents)], format="csr")
    return Data(f"synthetic, {documents:,} documents", rows, impacts(source.rows(queries, topical=24, general=5, scale=0.8)))


def encoded(folder: Path, queries: int) -> Data:
    """Vectors of a real model, RUN/lexicon/vectors of a finished run, and the queries of its collection, encoded by that model."""
    from retrolex.collection import Collection
    from retrolex.search.searcher import Searcher

    run = folder.parent.parent
    texts = list(Collection.open(run / "collection").queries.values())[:queries]
    asked = Searcher.open(run).system("lexicon").encoder.encode(texts, "query")
    rows = sparse.vstack([impacts(sparse.csr_array(shard)) for shard in read_shards(folder)], format="csr")
    return Data(f"{folder}, {rows.shape[0]:,} documents", rows, impacts(sparse.csr_array(asked)))


def impacts(rows: sparse.csr_array) -> sparse.csr_array:
    """floor(100 v), int32, without zeros."""
    rows = sparse.csr_array(rows, copy=True)
    rows.sum_duplicates()
    rows.data = np.floor(np.float32(100) * rows.data).astype(np.int32)
    rows.eliminate_zeros()
    return rows
