"""retrolex's own lexicon index."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np
from benchmarks.search.peers.base import Engine
from benchmarks.search.synthetic import Data
from scipy import sparse

from retrolex.index.lexicon import LexiconIndex
from retrolex.index.lexicon.build import build_from_impacts
from retrolex.index.lexicon.storage import BLOCK


class Own(Engine):
    """Exact. The answers of all others are compared with its own, which the tests compare with a matrix product."""

    name = "retrolex"

    def __init__(self, data: Data, folder: Path):
        super().__init__(data, folder)
        rows, count = data.documents, data.documents.shape[0]
        blocks = (sparse.csr_array(rows[start : start + BLOCK]) for start in range(0, count, BLOCK))
        build_from_impacts(folder, [str(position) for position in range(count)], blocks, "floor")
        self.index = LexiconIndex.open(folder)
        self.bytes = self.index.bytes
        started = perf_counter()
        LexiconIndex.open(folder)
        self.opened_in = perf_counter() - started
        queries = data.queries
        self.prepared = queries.indptr.astype(np.int64), queries.indices.astype(np.int32), queries.data.astype(np.int32)
        self.single = [(np.array([0, len(terms)], np.int64), terms.astype(np.int32), weights.astype(np.int32)) for terms, weights in
                       map(data.query, range(queries.shape[0]))]  # fmt: skip

    def search(self, number: int, k: int) -> np.ndarray:
        """See `Engine`."""
        return self.index.search_impacts(*self.single[number], k)[0][0]

    def best(self, number: int, k: int) -> np.ndarray:
        """The exact scores of the best hits, falling."""
        return self.index.search_impacts(*self.single[number], k)[0][1]

    def rate(self, k: int, threads: int) -> float:
        """All queries in one call."""
        started = perf_counter()
        self.index.search_impacts(*self.prepared, k, threads)
        return self.data.queries.shape[0] / (perf_counter() - started)

    def bytes_touched(self) -> float:
        """Mean bytes of the index that a query's terms occupy: lists, columns and directory entries."""
        arrays, terms = self.index._arrays, self.index.terms
        directory = arrays["directory"].reshape(-1, terms + 1, 3).astype(np.int64)
        table = arrays["block_table"].reshape(-1, 3)
        size = 3.0 * np.diff(directory[:, :, 0], axis=1).sum(axis=0) + 12 * len(directory)
        groups = -(-np.minimum(BLOCK, len(self.index) - BLOCK * np.arange(len(directory))) // 64)
        for block, entries in enumerate(directory):
            frequent = np.flatnonzero(entries[:-1, 2] != 0xFFFF_FFFF)
            columns = table[block, 2] + entries[frequent, 2]
            size[frequent] += 11 * groups[block] + arrays["column_pointers"][columns + 1] - arrays["column_pointers"][columns]
        return float(size[self.data.queries.indices].sum() / self.data.queries.shape[0])


engine = Own
