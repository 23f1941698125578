"""Seismic: approximate, by clusters of each term's strongest postings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.search.peers.base import Engine, NotInstalledError, size_of
from benchmarks.search.synthetic import Data

CUT, FACTOR = 10, 0.9  # query terms looked at; how eagerly clusters are skipped (both as its authors set them for high recall)


class Seismic(Engine):
    """Approximate."""

    name = "seismic"

    def __init__(self, data: Data, folder: Path):
        super().__init__(data, folder)
        try:
            import seismic as library
        except ImportError:
            raise NotInstalledError("pip install pyseismic-lsr") from None
        names = np.array([f"t{term}" for term in range(data.documents.shape[1])], dtype=library.get_seismic_string())
        self.names, rows, collected = names, data.documents, library.SeismicDataset()
        for row in range(rows.shape[0]):
            span = slice(rows.indptr[row], rows.indptr[row + 1])
            collected.add_document(str(row), names[rows.indices[span]], rows.data[span].astype(np.float32) / 100)
        self.index = library.SeismicIndex.build_from_dataset(collected, num_threads=2)
        self.index.save(str(folder))
        self.bytes = sum(size_of(path) for path in folder.parent.glob(folder.name + "*"))

    def search(self, number: int, k: int) -> np.ndarray:
        """See `Engine`."""
        terms, weights = self.data.query(number)
        found = self.index.search("0", self.names[terms], weights.astype(np.float32) / 100, k, CUT, FACTOR)
        return np.array([int(hit[2]) for hit in found], np.int64)


engine = Seismic
