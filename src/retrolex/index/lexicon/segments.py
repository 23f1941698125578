"""The lexicon index in segments: it grows and shrinks without a rebuild."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from retrolex.errors import UserError
from retrolex.index.lexicon.build import blocks, build_from_impacts
from retrolex.index.lexicon.index import LexiconIndex
from retrolex.index.lexicon.weights import MODES, Weights
from retrolex.index.segments import Part, SegmentedIndex


class SegmentedLexiconIndex(SegmentedIndex):
    """See `SegmentedIndex`; contents are [documents, terms] weights, or shards of them."""

    FORMAT, KIND, OPTION = "retrolex-lexicon-segments", "lexicon", "weights"

    def __init__(self, folder: Path, weights: Weights, serial: int, parts: list[Part], kernel: str | None = None):
        self._kernel, self.weights = kernel, weights
        super().__init__(folder, weights, serial, parts)

    @classmethod
    def create(cls, folder: Path, weights: Weights = "floor", kernel: str | None = None) -> SegmentedLexiconIndex:
        """An index without documents; see `SegmentedIndex.create`, and `LexiconIndex` for weights and kernels."""
        return super().create(folder, weights, kernel=kernel)

    @classmethod
    def open(cls, folder: Path, kernel: str | None = None) -> SegmentedLexiconIndex:
        """Open the state that the folder is in now; see `SegmentedIndex.open`."""
        return super().open(folder, kernel=kernel)

    @classmethod
    def _check_option(cls, option: str) -> None:
        if option not in MODES:
            raise UserError(f"no weights {option!r}; there are: {', '.join(MODES)}")

    def _open(self, folder: Path) -> LexiconIndex:
        return LexiconIndex.open(folder, self._kernel)

    def _write(self, folder: Path, ids: list[str], contents: sparse.csr_array | Iterable[sparse.csr_array]) -> None:
        LexiconIndex.build(folder, ids, contents, self.weights)

    def _rewrite(self, folder: Path) -> None:
        build_from_impacts(folder, self.ids, blocks(self._live_rows()), self.weights)

    def _live_rows(self) -> Iterator[sparse.csr_array]:
        width = max(segment.terms for segment in self._segments)
        for segment, deleted in zip(self._segments, self._deleted, strict=True):
            start = 0
            for rows in segment.impact_blocks():
                live = ~np.isin(np.arange(start, start + rows.shape[0]), deleted)
                start += rows.shape[0]
                rows = rows[live]
                yield sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))

    def _score_type(self) -> Any:
        return np.float64 if self.weights == "float" else np.int64
