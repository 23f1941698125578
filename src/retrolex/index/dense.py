"""Nearest neighbours of dense vectors by inner product (faiss): exact, or approximate with its recall measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.index.base import Hits, Named
from retrolex.index.dense_kinds import EXACT, aim, check_kind, new_index
from retrolex.index.segments import SegmentedIndex
from retrolex.progress import say

if TYPE_CHECKING:
    import faiss

SETTINGS, VECTORS = "dense.json", "dense.faiss"
SAMPLED, RECALL_AT = 100, 10  # documents that are searched for, and hits each, to measure recall when an approximate index is built
TIES = 64  # looked at beyond k, so that documents with equal scores at the cut come in document order


class DenseIndex(Named):
    """A faiss index over float32 vectors, kept in one folder with the documents' ids.

    Attributes:
        kind: see `dense_kinds.KINDS`.
        recall: of an approximate kind, the share of the true 10 nearest that it finds, over 100 of its own documents; None for an exact one.
    """

    def __init__(self, folder: Path, vectors: faiss.Index, ids: list[str], kind: str = EXACT, recall: float | None = None):
        self.folder, self.ids, self.kind, self.recall = folder, ids, kind, recall
        self._vectors = vectors

    @classmethod
    def build(cls, folder: str | Path, ids: Sequence[str], vectors: Iterable[np.ndarray], kind: str = EXACT) -> DenseIndex:
        """Index shards of vectors, each float32 [n, H], whose rows together answer to `ids`; an approximate kind says its recall.

        Raises:
            UserError: no such kind, or too few documents for it.
        """
        import faiss

        check_kind(kind)
        index, shards = None, ()
        if kind != EXACT:  # it has to see all vectors before it takes the first
            shards = [np.ascontiguousarray(np.concatenate([np.asarray(shard, np.float32) for shard in vectors]))]
        for shard in shards or vectors:
            if index is None:
                index = new_index(kind, shard.shape[1], len(ids))
            rows = np.ascontiguousarray(shard, dtype=np.float32)
            if not index.is_trained:
                index.train(rows)
            index.add(rows)
        if index is None or index.ntotal != len(ids):
            raise ValueError(f"{len(ids)} ids for {index.ntotal if index else 0} vectors")
        folder, recall = Path(folder), None
        folder.mkdir(parents=True, exist_ok=True)
        built = cls(folder, index, list(ids), kind)
        if kind != EXACT:
            recall = built.recall = built.measure_recall(shards[0])
            say(f"dense index ({kind}): recall@{RECALL_AT} {recall:.3f} against exact, on {min(SAMPLED, len(ids))} of its documents")
        faiss.write_index(index, str(folder / VECTORS))
        write_json(folder / SETTINGS, {"kind": kind, "recall": recall, "ids": list(ids)})
        return built

    def measure_recall(self, vectors: np.ndarray, queries: np.ndarray | None = None, k: int = RECALL_AT) -> float:
        """Share of the true `k` nearest that a search finds, in [0, 1].

        Args:
            vectors: of all documents, float32 [n, H].
            queries: float32 [q, H]; a sample of the documents when not given.
            k: hits a query.
        """
        if queries is None:
            queries = vectors[np.random.default_rng(0).choice(len(vectors), min(SAMPLED, len(vectors)), replace=False)]
        truth = np.argpartition(-(queries @ vectors.T), min(k, len(vectors)) - 1, axis=1)[:, :k]
        found = [positions for positions, _ in self.search(queries, k)]
        return round(float(np.mean([len(np.intersect1d(one, other)) / len(other) for one, other in zip(found, truth, strict=True)])), 4)

    @classmethod
    def open(cls, folder: str | Path) -> DenseIndex:
        """Open what `build` wrote.

        Raises:
            UserError: no dense index there, or a damaged one.
        """
        import faiss

        folder = Path(folder)
        try:
            settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            ids = settings["ids"]
            vectors = faiss.read_index(str(folder / VECTORS), faiss.IO_FLAG_MMAP)
        except (FileNotFoundError, NotADirectoryError):
            raise UserError("no dense index here", where=folder, mend="build it again") from None
        except (RuntimeError, ValueError, KeyError) as error:
            raise UserError(f"a damaged dense index: {str(error).splitlines()[0]}", where=folder, mend="build it again") from None
        if vectors.ntotal != len(ids):
            raise UserError(f"a damaged dense index: {vectors.ntotal} vectors for {len(ids)} ids", where=folder, mend="build it again")
        return cls(folder, vectors, ids, settings["kind"], settings.get("recall"))

    def search(self, queries: np.ndarray, k: int, threads: int | None = None) -> list[Hits]:
        """The k nearest documents of each query vector, float32 [q, H]; equal scores in document order.

        Args:
            queries: the vectors.
            k: documents a query.
            threads: as many as faiss chooses when not given.
        """
        import faiss

        depth = min(k + TIES, len(self))
        if not depth or not len(queries):
            return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in queries]
        if threads is not None:
            faiss.omp_set_num_threads(threads)
        aim(self._vectors, self.kind, depth)
        scores, positions = self._vectors.search(np.ascontiguousarray(queries, dtype=np.float32), depth)
        hits = []
        for row, values in zip(positions, scores, strict=True):
            row, values = row[row >= 0], values[row >= 0]  # an approximate index may find fewer
            order = np.lexsort((row, -values))[:k]
            hits.append((row[order].astype(np.int64), values[order]))
        return hits

    def vectors(self) -> np.ndarray:
        """All vectors as given, float32 [n, H].

        Raises:
            UserError: the kind keeps them shortened only.
        """
        if self.kind == "sq8":
            raise UserError("a dense index of kind 'sq8' has no full vectors to build from", where=self.folder, mend="encode the collection again")
        return self._vectors.reconstruct_n(0, len(self))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def bytes(self) -> int:
        """Size on disk."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())


class SegmentedDenseIndex(SegmentedIndex):
    """See `SegmentedIndex`; contents are shards of vectors, float32 [n, H]; `option` is the kind."""

    FORMAT, KIND, OPTION = "retrolex-dense-segments", "dense", "kind"

    @classmethod
    def _check_option(cls, option: str) -> None:
        check_kind(option)

    def _open(self, folder: Path) -> DenseIndex:
        return DenseIndex.open(folder)

    def _write(self, folder: Path, ids: list[str], contents: Iterable[np.ndarray]) -> None:
        DenseIndex.build(folder, ids, contents, self.option)

    def _rewrite(self, folder: Path) -> None:
        DenseIndex.build(folder, self.ids, self.live_vectors(), self.option)

    def live_vectors(self) -> list[np.ndarray]:
        """The live documents' vectors, float32 [n, H], segment by segment."""
        return [np.delete(segment.vectors(), deleted, axis=0) for segment, deleted in zip(self._segments, self._deleted, strict=True)]

    @property
    def recall(self) -> dict[str, float]:
        """Recall of each segment of an approximate kind, by its name."""
        return {part.name: segment.recall for part, segment in zip(self._parts, self._segments, strict=True) if segment.recall is not None}
