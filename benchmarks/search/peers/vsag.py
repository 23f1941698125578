"""VSAG's sparse inverted index (SINDI), set to be exact: nothing pruned."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from benchmarks.search.peers.base import Engine, NotInstalledError, size_of
from benchmarks.search.synthetic import Data

EXACT = json.dumps({"sindi": {"query_prune_ratio": 0.0, "term_prune_ratio": 0.0, "n_candidate": 0}})


class Vsag(Engine):
    """Exact."""

    name = "vsag"

    def __init__(self, data: Data, folder: Path):
        super().__init__(data, folder)
        try:
            import pyvsag
        except ImportError:
            raise NotInstalledError("pip install pyvsag") from None
        pyvsag.set_logger_off()
        rows = data.documents
        settings = {"term_id_limit": rows.shape[1], "window_size": 60_000, "doc_prune_ratio": 0.0, "use_reorder": False}
        self.index = pyvsag.Index("sindi", json.dumps({"dtype": "sparse", "dim": rows.shape[1], "metric_type": "ip", "index_param": settings}))
        arrays = rows.indptr.astype(np.uint32), rows.indices.astype(np.uint32), rows.data.astype(np.float32)
        self.index.build(*arrays, np.arange(rows.shape[0], dtype=np.int64))
        self.index.save(str(folder))
        self.bytes = size_of(folder)

    def search(self, number: int, k: int) -> np.ndarray:
        """See `Engine`."""
        terms, weights = self.data.query(number)
        pointers = np.array([0, len(terms)], np.uint32)
        return np.asarray(self.index.knn_search(pointers, terms.astype(np.uint32), weights.astype(np.float32), k, EXACT)[0]).ravel()


engine = Vsag
