"""Kinds of dense indexes, by name: one exact, and four that trade recall for speed or size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from retrolex.errors import UserError

if TYPE_CHECKING:
    import faiss

KINDS = {
    "flat": "exact: every vector is compared",
    "pq": "4-bit product quantisation, fast scan, the best refined with the full vectors: the choice up to a million documents",
    "ivfpq": "the same within the clusters nearest to the query: for more",
    "hnsw": "a graph of neighbours: fast to search, slow to build",
    "sq8": "one byte a component instead of four, every vector compared",
}
EXACT = "flat"
LEAST = 1000  # documents that an approximate kind needs to be trained on
PROBES = 16  # one cluster in so many is searched


def new_index(kind: str, width: int, documents: int) -> faiss.Index:
    """An empty faiss index, inner product.

    Args:
        kind: a name of `KINDS`.
        width: components of a vector.
        documents: how many are to come.

    Raises:
        UserError: no such kind, or too few documents for it.
    """
    import faiss

    check_kind(kind)
    if kind == EXACT:
        return faiss.IndexFlatIP(width)
    if documents < LEAST:
        raise UserError(f"{documents:,} documents are too few for a dense index of kind {kind!r}, which needs {LEAST:,}", mend="use kind 'flat'")
    parts = next(width // size for size in (4, 3, 2, 1) if width % size == 0)
    clusters = 2 ** round(math.log2(4 * math.sqrt(documents)))
    recipe = {
        "pq": f"PQ{parts}x4fs,RFlat",
        "ivfpq": f"IVF{min(clusters, documents // 40)},PQ{parts}x4fs,RFlat",
        "hnsw": "HNSW32,Flat",
        "sq8": "SQ8",
    }[kind]
    index = faiss.index_factory(width, recipe, faiss.METRIC_INNER_PRODUCT)
    if kind == "hnsw":
        index.hnsw.efConstruction = 100
    return index


def check_kind(kind: str) -> None:
    """Raise a UserError when there is no such kind."""
    if kind not in KINDS:
        raise UserError(f"no dense index of kind {kind!r}", mend=f"choose one of: {', '.join(KINDS)}")


def aim(index: faiss.Index, kind: str, k: int) -> None:
    """Set how hard the index searches for `k` documents."""
    import faiss

    if kind in ("pq", "ivfpq"):
        index.k_factor = float(max(2, min(20, 400 // k)))
    if kind == "ivfpq":
        clusters = faiss.extract_index_ivf(index)
        clusters.nprobe = max(8, clusters.nlist // PROBES)
    if kind == "hnsw":
        index.hnsw.efSearch = max(64, 2 * k)
