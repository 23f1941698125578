"""The lexicon index: exact top-k of the inner product between sparse, non-negative term weights."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from retrolex.errors import UserError
from retrolex.index.base import Hits, Named
from retrolex.index.lexicon import decode, fallback, native, storage
from retrolex.index.lexicon.build import build
from retrolex.index.lexicon.weights import MODES, Weights, impacts

LARGEST_SCORE = 2**31 - 1
QUERIES_A_TASK = 16  # of a batch, given to a thread at a time
RESULTS_A_TASK = 1 << 22  # places for results that one task may reserve


class LexiconIndex(Named):
    """An index folder, memory-mapped. Documents are known by their positions: the order in which they were built.

    Scores are exact: integers for `floor` and `round`; for `float`, the products of float32 weights, added in double
    precision in ascending order of terms. Only documents that score above zero are returned, the higher score first,
    and the earlier document first among equals, whatever the kernel.
    """

    def __init__(self, folder: Path, header: dict, arrays: dict[str, np.ndarray], kernel: str):
        self.folder, self.kernel = folder, kernel
        self.weights: Weights = header["weights"]
        self.terms: int = header["terms"]
        self._header, self._arrays, self._documents = header, arrays, header["documents"]
        self._ids_file = np.memmap(folder / storage.IDS, np.uint8, "r")  # mapped now: the folder may be replaced before anyone asks for ids
        if kernel != native.NUMPY:
            self._view = native.view_of(self._documents, self.terms, -(-self._documents // storage.BLOCK), arrays)

    @classmethod
    def build(
        cls,
        folder: Path,
        ids: list[str],
        vectors: sparse.csr_array | Iterable[sparse.csr_array],
        weights: Weights = "floor",
        kernel: str | None = None,
    ) -> LexiconIndex:
        """Write an index and open it. The folder appears whole or not at all; an index that is there is replaced.

        Args:
            folder: where.
            ids: one id a document, all different.
            vectors: [documents, terms] weights, or shards of them in order, which are read once, one block at a time.
            weights: how weights become what is summed.
            kernel: see `open`.

        Raises:
            UserError: ids and vectors do not agree, a weight can't be kept exactly, or the folder holds something else.
        """
        if weights not in MODES:
            raise UserError(f"no weights {weights!r}; there are: {', '.join(MODES)}")
        build(Path(folder), ids, vectors, weights)
        return cls.open(folder, kernel)

    @classmethod
    def open(cls, folder: Path, kernel: str | None = None) -> LexiconIndex:
        """Map an index into memory: milliseconds, whatever its size.

        Sizes, types and everything that leads from one array into another are checked, and files of up to a megabyte
        are compared with their hashes; `verify` does that for all.

        Args:
            folder: where it was built.
            kernel: ``avx512``, ``avx2``, ``neon``, ``scalar`` or ``numpy``; the fastest that runs here when not given.

        Raises:
            UserError: no index is there, or it is damaged.
        """
        folder = Path(folder)
        while True:
            header = storage.read_header(folder)
            try:
                storage.check_files(folder, header, storage.HASHED_ON_OPENING)
                index = cls(folder, header, storage.map_arrays(folder, header["weights"]), native.choose(kernel))
                storage.check_structure(folder, header, index._arrays)
            except (UserError, OSError):
                if storage.read_header(folder) == header:
                    raise
            else:
                if storage.read_header(folder) == header:  # otherwise the folder was replaced while its files were being opened
                    return index

    def verify(self) -> None:
        """Compare every file with the hash taken when it was built.

        Raises:
            UserError: one differs.
        """
        storage.check_files(self.folder, self._header, None)

    def __len__(self) -> int:
        return self._documents

    @cached_property
    def ids(self) -> list[str]:
        """Document ids by position."""
        path = self.folder / storage.IDS
        try:
            ids = json.loads(self._ids_file.tobytes())
        except ValueError as error:
            raise storage.damaged(path, f"not readable as JSON: {error}") from None
        if not isinstance(ids, list) or len(ids) != len(self):
            raise storage.damaged(path, f"not a list of {len(self):,} ids")
        return ids

    @property
    def bytes(self) -> int:
        """Size on disk, ids included."""
        return sum(file["bytes"] for file in self._header["files"])

    def impact_blocks(self) -> Iterator[sparse.csr_array]:
        """The documents' impacts (int32; float32 weights for `float`), as stored: rows of [documents, terms], block by block."""
        return decode.impact_blocks(self._documents, self.terms, self._arrays)

    def search(self, queries: sparse.csr_array, k: int, threads: int = 1) -> list[Hits]:
        """The best `k` documents of each query.

        Args:
            queries: [queries, terms] weights, made into impacts by the rule that the documents' were. Terms that the
                index does not have match nothing.
            k: how many documents, at most.
            threads: how many queries to search at a time.

        Returns:
            One pair a query: positions (int64) and scores (int64, or float64 for float weights).

        Raises:
            UserError: `k` or `threads` is below 1, a weight is not usable, or a score could pass 2^31 - 1.
        """
        if k < 1 or threads < 1:
            raise UserError(f"k={k}, threads={threads}: both must be at least 1")
        return self.search_impacts(*self.prepare(queries), k, threads)

    def search_impacts(self, pointers: np.ndarray, terms: np.ndarray, weights: np.ndarray, k: int, threads: int = 1) -> list[Hits]:
        """The same for queries that `prepare` gave."""
        k = max(1, min(k, len(self)))
        count = len(pointers) - 1
        if self.kernel == native.NUMPY:
            spans = zip(pointers[:-1].tolist(), pointers[1:].tolist(), strict=True)
            return [fallback.search(len(self), self._arrays, terms[a:b], weights[a:b], k) for a, b in spans]
        step = max(1, min(QUERIES_A_TASK, RESULTS_A_TASK // k))

        def task(begin: int) -> list[Hits]:
            return native.search(self._view, self.kernel, pointers, terms, weights, begin, min(begin + step, count), k)

        if threads == 1 or count <= step:
            return [hit for begin in range(0, count, step) for hit in task(begin)]
        with ThreadPoolExecutor(threads) as pool:
            return [hit for hits in pool.map(task, range(0, count, step)) for hit in hits]

    def prepare(self, queries: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The queries' pointers (int64), terms (int32) and impacts (int32; float32 weights for `float`), as the kernel takes them."""
        if queries.shape[1] > self.terms:
            queries = queries[:, : self.terms]
        pointers, terms, weights = impacts(queries, self.weights, lambda row: f"query {row}")
        pointers, terms = pointers.astype(np.int64, copy=False), terms.astype(np.int32, copy=False)
        if self.weights != "float" and len(terms):
            contributions = np.zeros(len(terms) + 1, np.int64)
            np.cumsum(self._arrays["term_maxima"][terms] * weights.astype(np.int64), out=contributions[1:])
            bounds = np.diff(contributions[pointers])
            if bounds.max() > LARGEST_SCORE:
                query, bound = int(bounds.argmax()), int(bounds.max())
                raise UserError(
                    f"the scores of query {query} could reach {bound:,}; with integer weights they go up to {LARGEST_SCORE:,}",
                    mend="give the query smaller weights, or build the index with weights='float'",
                )
        return pointers, terms, weights
