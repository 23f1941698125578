"""Exact nearest neighbours of dense vectors by inner product (faiss)."""

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


class DenseIndex:
    """A faiss index over float32 vectors, kept in one folder with the documents' ids."""

    def __init__(self, folder: Path, vectors: faiss.Index, ids: list[str]):
        self.folder, self.ids = folder, ids
        self._vectors = vectors

    @classmethod
    def build(cls, folder: str | Path, ids: Sequence[str], vectors: Iterable[np.ndarray]) -> DenseIndex:
        """Index shards of vectors, each float32 [n, H], whose rows together answer to `ids`."""
        import faiss

        index = None
        for shard in vectors:
            if index is None:
                index = faiss.IndexFlatIP(shard.shape[1])
            index.add(np.ascontiguousarray(shard, dtype=np.float32))
        if index is None or index.ntotal != len(ids):
            raise ValueError(f"{len(ids)} ids for {index.ntotal if index else 0} vectors")
        folder = Path(folder)
        faiss.write_index(index, str(folder / VECTORS))
        write_json(folder / SETTINGS, {"kind": "flat", "ids": list(ids)})
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
            order = np.lexsort((row, -values))[:k]
            hits.append((row[order].astype(np.int64), values[order]))
        return hits

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def bytes(self) -> int:
        """Size on disk."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())
