"""BMP: block-max pruning over impacts of one byte, which cuts those above 255: nearly exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.search.peers.base import Engine, NotInstalledError, size_of
from benchmarks.search.synthetic import Data


class Bmp(Engine):
    """Safe for what it stores."""

    name = "bmp"

    def __init__(self, data: Data, folder: Path):
        super().__init__(data, folder)
        try:
            import bmp as library
        except ImportError:
            raise NotInstalledError("pip install bmp") from None
        rows, self.names = data.documents, [f"t{term}" for term in range(data.documents.shape[1])]
        indexer = library.Indexer(str(folder), bsize=32, compress_range=False)
        for row in range(rows.shape[0]):
            span = slice(rows.indptr[row], rows.indptr[row + 1])
            indexer.add_document(
                str(row), {self.names[t]: min(w, 255) for t, w in zip(rows.indices[span].tolist(), rows.data[span].tolist(), strict=True)}
            )
        indexer.finish()
        self.searcher, self.bytes = library.Searcher(str(folder)), size_of(folder)

    def search(self, number: int, k: int) -> np.ndarray:
        """See `Engine`."""
        query = {self.names[term]: float(weight) for term, weight in zip(*self.data.query(number), strict=True)}
        return np.array([int(id) for id in self.searcher.search(query, k, 1.0, 1.0)[0]], np.int64)


engine = Bmp
