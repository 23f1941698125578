"""Nearest neighbours of dense vectors by inner product (faiss): exact by default, approximate by name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.index.base import Hits

if TYPE_CHECKING:
    import faiss

SETTINGS, VECTORS = "dense.json", "dense.faiss"
TIES = 64  # looked at beyond k, so that documents with equal scores at the cut come in document order

# Name -> faiss factory string for H components; what is not exact is searched wider and refined with full vectors.
KINDS = {
    "flat": lambda width: "Flat",
    "hnsw": lambda width: "HNSW32,Flat",
    "sq8": lambda width: "SQ8",
}


class DenseIndex:
    """A faiss index over float32 vectors, kept in one folder with the documents' ids."""

    def __init__(self, folder: Path, vectors: faiss.Index, ids: list[str]):
        self.folder, self.ids = folder, ids
        self._vectors = vectors

    @classmethod
    def build(cls, folder: str | Path, ids: Sequence[str], vectors: Iterable[np.ndarray], kind: str = "flat") -> DenseIndex:
        """Index shards of vectors, each float32 [n, H], whose rows together answer to `ids`.

        Raises:
            UserError: an unknown kind of index.
        """
        import faiss

        if kind not in KINDS:
            raise UserError(f"no dense index is called {kind!r}", mend=f"choose one of {', '.join(KINDS)}")
        index = None
        for shard in vectors:
            if index is None:
                index = faiss.index_factory(shard.shape[1], KINDS[kind](shard.shape[1]), faiss.METRIC_INNER_PRODUCT)
                if not index.is_trained:
                    index.train(shard)
            index.add(np.ascontiguousarray(shard, dtype=np.float32))
        if index is None or index.ntotal != len(ids):
            raise ValueError(f"{len(ids)} ids for {index.ntotal if index else 0} vectors")
        folder = Path(folder)
        faiss.write_index(index, str(folder / VECTORS))
        write_json(folder / SETTINGS, {"kind": kind, "ids": list(ids)})
        return cls(folder, index, list(ids))

    @classmethod
    def open(cls, folder: str | Path) -> DenseIndex:
        """Open what `build` wrote.

        Raises:
            UserError: no dense index there, or a damaged one.
        """
        import faiss

        folder = Path(folder)
        try:
            ids = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))["ids"]
            vectors = faiss.read_index(str(folder / VECTORS), faiss.IO_FLAG_MMAP)
        except (FileNotFoundError, NotADirectoryError):
            raise UserError("no dense index here", where=folder, mend="build it again") from None
        except (RuntimeError, ValueError, KeyError) as error:
            raise UserError(f"a damaged dense index: {str(error).splitlines()[0]}", where=folder, mend="build it again") from None
        if vectors.ntotal != len(ids):
            raise UserError(f"a damaged dense index: {vectors.ntotal} vectors for {len(ids)} ids", where=folder, mend="build it again")
        return cls(folder, vectors, ids)

    def search(self, queries: np.ndarray, k: int) -> list[Hits]:
        """The k nearest documents of each query vector, float32 [q, H]; equal scores in document order."""
        depth = min(k + TIES, len(self))
        if not depth or not len(queries):
            return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in queries]
        scores, positions = self._vectors.search(np.ascontiguousarray(queries, dtype=np.float32), depth)
        hits = []
        for row, values in zip(positions, scores, strict=True):
            found = row >= 0  # an approximate index may find fewer than asked
            row, values = row[found].astype(np.int64), values[found]
            order = np.lexsort((row, -values))[:k]
            hits.append((row[order], values[order]))
        return hits

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def bytes(self) -> int:
        """Size on disk."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())
