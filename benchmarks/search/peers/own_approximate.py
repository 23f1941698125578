"""retrolex's two-stage search: the strongest terms propose, all terms decide."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.search.peers.base import Engine
from benchmarks.search.synthetic import Data

from retrolex.index.lexicon import LexiconIndex
from retrolex.index.lexicon.approximate import MOST, ApproximateLexiconIndex


class OwnApproximate(Engine):
    """Approximate, up to 100 hits. Built from the exact index, which is beside it; its bytes are those that it takes besides."""

    name = "retrolex, approximate"
    most = MOST

    def __init__(self, data: Data, folder: Path):
        super().__init__(data, folder)
        self.index = ApproximateLexiconIndex.build(folder, LexiconIndex.open(folder.with_name("own")))
        self.bytes = self.index.bytes

    def search(self, number: int, k: int) -> np.ndarray:
        """See `Engine`."""
        terms, weights = self.data.query(number)
        pointers = np.array([0, len(terms)], np.int64)
        return self.index.search_impacts(pointers, terms.astype(np.int32), weights.astype(np.int32), k)[0][0]


engine = OwnApproximate
