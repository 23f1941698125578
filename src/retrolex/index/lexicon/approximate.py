"""Approximate search in two stages: a small index proposes candidates, their exact scores decide (for up to 100 hits).

The small index keeps each document's strongest terms and is asked for a query's strongest terms; the candidates it gives are
scored with all their terms, which lie document by document in a forward index. What is returned has its exact score; what is
missed was never proposed. How much that is, is measured whenever the index is built, and by `recall` for queries at hand.
"""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.index.base import Hits, Named
from retrolex.index.lexicon import native, storage
from retrolex.index.lexicon.build import build_from_impacts
from retrolex.index.lexicon.index import LexiconIndex
from retrolex.progress import say

MOST = 100  # hits; beyond, exact search is the better bargain
DOCUMENT_TERMS, QUERY_TERMS = 48, 12  # strongest ones that the first stage looks at
CANDIDATES = 10  # proposed for each hit wanted, and at least LEAST_CANDIDATES
LEAST_CANDIDATES = 200
SAMPLED, SAMPLE_TERMS = 100, 24  # documents that are searched for to measure recall, each by its strongest terms
SETTINGS, CANDIDATE_INDEX = "approximate.json", "candidates"


class ApproximateLexiconIndex(Named):
    """A first-stage index, a forward index, and the recall that was measured; beside the exact index it was made from.

    Attributes:
        measured: recall@10 against exact search over 100 documents searched for by their strongest terms.
    """

    def __init__(self, folder: Path, exact: LexiconIndex, measured: float = 0.0):
        self.folder, self.exact, self.measured = folder, exact, measured
        self._candidates = LexiconIndex.open(folder / CANDIDATE_INDEX, exact.kernel)
        self._forward = [np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in ("pointers", "terms", "impacts")]
        self._pointers, self._terms, self._impacts = self._forward
        sound = [array.dtype.str for array in self._forward] == ["<i8", "<u4", "<u2"] and len(self._pointers) == len(exact) + 1
        sound = sound and self._pointers[0] == 0 and self._pointers[-1] == len(self._terms) == len(self._impacts)
        if not sound or (np.diff(self._pointers) < 0).any():
            raise ValueError("the forward index is inconsistent")

    @classmethod
    def build(cls, folder: Path, exact: LexiconIndex) -> ApproximateLexiconIndex:
        """Make it from an exact index of integer impacts, and say its recall. The folder appears whole or not at all.

        Raises:
            UserError: the index keeps float weights.
        """
        if exact.weights == "float":
            raise UserError("approximate search needs integer impacts", where=exact.folder, mend="build the index with weights 'floor' or 'round'")
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        files = {name: storage.Appender(partial / f"{name}.npy", kind) for name, kind in (("pointers", "<i8"), ("terms", "<u4"), ("impacts", "<u2"))}
        files["pointers"].append(np.zeros(1))

        def pruned():
            for rows in exact.impact_blocks():
                files["pointers"].append(files["terms"].length + rows.indptr[1:].astype(np.int64))
                files["terms"].append(rows.indices)
                files["impacts"].append(rows.data)
                yield strongest(rows, DOCUMENT_TERMS)

        build_from_impacts(partial / CANDIDATE_INDEX, exact.ids, pruned(), exact.weights)
        for file in files.values():
            file.close()
        measured = cls(partial, exact).sampled_recall()
        write_json(partial / SETTINGS, {"recall": measured, "document_terms": DOCUMENT_TERMS, "query_terms": QUERY_TERMS})
        storage.publish(partial, folder)
        say(f"approximate lexicon index: recall@10 {measured:.3f} against exact, on {min(SAMPLED, len(exact))} of its documents")
        return cls(folder, exact, measured)

    @classmethod
    def open(cls, folder: Path, exact: LexiconIndex) -> ApproximateLexiconIndex:
        """Open what `build` wrote.

        Raises:
            UserError: it is not there, or damaged.
        """
        try:
            measured = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))["recall"]
            return cls(folder, exact, measured)
        except (OSError, ValueError, KeyError) as error:
            raise UserError(f"no approximate index, or a damaged one: {error}", where=folder, mend="remove the folder and search again") from None

    @property
    def ids(self) -> list[str]:
        """Document ids by position."""
        return self.exact.ids

    @property
    def bytes(self) -> int:
        """Size on disk, without the exact index."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def __len__(self) -> int:
        return len(self.exact)

    def search(self, queries: sparse.csr_array, k: int, threads: int = 1) -> list[Hits]:
        """As `LexiconIndex.search`, except that hits can be missing.

        Raises:
            UserError: more than 100 hits are asked for.
        """
        if k > MOST:
            raise UserError(f"k={k}: approximate search gives up to {MOST} hits", mend="search exactly for more")
        return self.search_impacts(*self.exact.prepare(queries), k, threads)

    def search_impacts(self, pointers: np.ndarray, terms: np.ndarray, weights: np.ndarray, k: int, threads: int = 1) -> list[Hits]:
        """The same for queries that `LexiconIndex.prepare` gave."""
        kept = np.concatenate([pointers[:0], *(_strongest_terms(weights, *span) for span in pairwise(pointers))])
        short = np.searchsorted(kept, pointers)
        proposed = self._candidates.search_impacts(short, terms[kept], weights[kept], max(LEAST_CANDIDATES, CANDIDATES * k), threads)
        table = np.zeros(self.exact.terms, np.int64)
        found = []
        for row, (positions, _) in enumerate(proposed):
            span = slice(pointers[row], pointers[row + 1])
            table[terms[span]] = weights[span]
            scores = self._scores(positions, table)
            table[terms[span]] = 0
            order = np.lexsort((positions, -scores))[:k]
            found.append((positions[order], scores[order]))
        return found

    def _scores(self, positions: np.ndarray, table: np.ndarray) -> np.ndarray:
        """Exact scores of documents, for a query laid out as one weight a term."""
        if not len(positions):
            return np.zeros(0, np.int64)
        if self.exact.kernel != native.NUMPY:
            return native.rescore(self._forward, table, positions)
        begins, ends = self._pointers[positions], self._pointers[positions + 1]
        lengths = ends - begins
        starts = np.cumsum(lengths) - lengths
        places = np.repeat(begins - starts, lengths) + np.arange(lengths.sum())
        return np.add.reduceat(table[self._terms[places]] * self._impacts[places], starts)

    def recall(self, queries: sparse.csr_array, k: int = 10) -> float:
        """Share of the exact `k` best hits of `queries` that this index finds, in [0, 1]; a hit with the score of the k-th counts as well."""
        shares = []
        for (_, exact), (_, found) in zip(self.exact.search(queries, k), self.search(queries, k), strict=True):
            if len(exact):
                shares.append((found[: len(exact)] >= exact[-1]).mean() * len(found[: len(exact)]) / len(exact) if len(found) else 0.0)
        return round(float(np.mean(shares)), 4) if shares else 1.0

    def sampled_recall(self) -> float:
        """Recall@10 over a sample of the documents."""
        rows = np.random.default_rng(0).choice(len(self), min(SAMPLED, len(self)), replace=False)
        sample = [slice(self._pointers[row], self._pointers[row + 1]) for row in rows]
        indptr = np.concatenate([[0], np.cumsum([span.stop - span.start for span in sample])])
        terms = np.concatenate([self._terms[span] for span in sample]).astype(np.int32) if sample else np.zeros(0, np.int32)
        impacts = np.concatenate([self._impacts[span] for span in sample]) if sample else np.zeros(0)
        queries = strongest(sparse.csr_array((impacts.astype(np.int32), terms, indptr), shape=(len(rows), self.exact.terms)), SAMPLE_TERMS)
        return self.recall(sparse.csr_array(queries.astype(np.float32) / np.float32(100)))


def _strongest_terms(weights: np.ndarray, begin: int, end: int) -> np.ndarray:
    """Places, ascending, of a query's strongest terms, the earlier one first among equals."""
    return begin + np.sort(np.argsort(-weights[begin:end], kind="stable")[:QUERY_TERMS])


def strongest(rows: sparse.csr_array, count: int) -> sparse.csr_array:
    """Each row's `count` largest values, equal ones by column; columns ascending."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, -rows.data, row))
    rank = np.arange(len(order)) - rows.indptr[row[order]]
    kept = np.sort(order[rank < count])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[kept], minlength=rows.shape[0]))])
    return sparse.csr_array((rows.data[kept], rows.indices[kept], indptr), shape=rows.shape)
