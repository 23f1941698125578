"""qdrant-edge: Qdrant's engine in the process, sparse vectors, exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.search.peers.base import Engine, NotInstalledError, size_of
from benchmarks.search.synthetic import Data

BATCH = 2_000


class Qdrant(Engine):
    """Exact."""

    name = "qdrant-edge"

    def __init__(self, data: Data, folder: Path):
        super().__init__(data, folder)
        try:
            import qdrant_edge as library
        except ImportError:
            raise NotInstalledError("pip install qdrant-edge-py") from None
        self.library, rows = library, data.documents
        folder.mkdir()
        self.shard = library.EdgeShard.create(str(folder), library.EdgeConfig(sparse_vectors={"s": library.EdgeSparseVectorParams()}))
        for start in range(0, rows.shape[0], BATCH):
            points = []
            for row in range(start, min(start + BATCH, rows.shape[0])):
                span = slice(rows.indptr[row], rows.indptr[row + 1])
                vector = library.SparseVector(rows.indices[span].tolist(), rows.data[span].astype(float).tolist())
                points.append(library.Point(row, {"s": vector}, None))
            self.shard.update(library.UpdateOperation.upsert_points(points))
        self.shard.optimize()
        self.bytes = size_of(folder)

    def search(self, number: int, k: int) -> np.ndarray:
        """See `Engine`."""
        terms, weights = self.data.query(number)
        vector = self.library.SparseVector(terms.tolist(), weights.astype(float).tolist())
        request = self.library.QueryRequest(limit=k, query=self.library.Query.Nearest(vector, using="s"))
        return np.array([point.id for point in self.shard.query(request)], np.int64)


engine = Qdrant
