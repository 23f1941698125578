"""The slow, obvious twin of the lexicon index: a matrix product and a sort; and collections to compare the two on."""

from __future__ import annotations

import numpy as np
from scipy import sparse

EDGES = np.array([0, 1, 2, 254, 255, 256, 510, 511, 65_535])  # impacts around everything that the format treats specially


def brute_force(vectors: sparse.csr_array, queries: sparse.csr_array, k: int, weights: str = "floor") -> list[tuple[list[int], list]]:
    """Positions and scores of the best `k` documents of each query that score above zero, ties by position."""

    def impacts(rows: sparse.csr_array) -> sparse.csr_array:
        rows = sparse.csr_array(rows, dtype=np.float32)
        if weights == "float":
            return rows.astype(np.float64)
        rule = {"floor": np.floor, "round": np.rint}[weights]
        return sparse.csr_array((rule(np.float32(100) * rows.data).astype(np.int64), rows.indices, rows.indptr), shape=rows.shape)

    width = min(vectors.shape[1], queries.shape[1])
    scores = (impacts(queries)[:, :width] @ impacts(vectors)[:, :width].T).toarray()
    found = []
    for row in scores:
        matching = np.flatnonzero(row > 0)
        order = matching[np.lexsort((matching, -row[matching]))][:k]
        found.append((order.tolist(), row[order].tolist()))
    return found


def as_lists(hits: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[list[int], list]]:
    """A search's results in the form of the twin's."""
    return [(positions.tolist(), scores.tolist()) for positions, scores in hits]


def names(count: int) -> list[str]:
    """Ids for `count` documents."""
    return [f"d{position}" for position in range(count)]


def random_rows(rng: np.random.Generator, rows: int, terms: int, *, levels: np.ndarray, common: int = 3) -> sparse.csr_array:
    """[rows, terms] weights drawn from `levels` (in hundredths): the first `common` terms are in most rows, the others in fewer and fewer."""
    density = np.where(np.arange(terms) < common, 0.8, 0.5 / (1 + np.arange(terms)))
    present = rng.random((rows, terms)) < density
    return sparse.csr_array((present * rng.choice(levels, (rows, terms)) / 100).astype(np.float32))
