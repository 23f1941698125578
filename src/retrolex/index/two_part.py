"""Exact search of two-part vectors: the inner product of the dense parts plus that of the lexicon parts, for every document.

A document costs as many multiplications as its dense part is wide and has terms, 768 with the paper's 384 + 384: the sum is
computed for all documents, block by block, so no candidate is missed that is middling in both parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.index.base import Hits

SETTINGS = "two_part.json"
CSR = ("data", "indices", "indptr")
QUERIES = 32  # searched at a time, each with a vector of the whole vocabulary


class TwoPartIndex:
    """Blocks of dense matrices and of CSR matrices, memory-mapped, in one folder with the documents' ids."""

    def __init__(self, folder: Path, width: int, terms: int, ids: list[str], sizes: list[int]):
        self.folder, self.width, self.terms, self.ids, self.sizes = folder, width, terms, ids, sizes

    @classmethod
    def build(cls, folder: str | Path, ids: Sequence[str], vectors: Iterable[sp.csr_array], width: int) -> TwoPartIndex:
        """Index shards of vectors.

        Args:
            folder: where; it is there already.
            ids: one a document.
            vectors: float32 CSR [n, width + terms] each, whose rows together answer to `ids`.
            width: of the dense part, which comes first.
        """
        folder, sizes, terms = Path(folder), [], 0
        for number, shard in enumerate(vectors):
            lexicon = sp.csr_array(shard[:, width:])
            lexicon.sum_duplicates()
            arrays = {"dense": shard[:, :width].toarray(), **{name: getattr(lexicon, name) for name in CSR}}
            for name, array in arrays.items():
                np.save(folder / f"block-{number:05d}.{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
            sizes.append(shard.shape[0])
            terms = lexicon.shape[1]
        if sum(sizes) != len(ids):
            raise ValueError(f"{len(ids)} ids for {sum(sizes)} vectors")
        write_json(folder / SETTINGS, {"width": width, "terms": terms, "sizes": sizes, "ids": list(ids)})
        return cls(folder, width, terms, list(ids), sizes)

    @classmethod
    def open(cls, folder: str | Path) -> TwoPartIndex:
        """Open what `build` wrote.

        Raises:
            UserError: no such index there, or a damaged one.
        """
        folder = Path(folder)
        try:
            stated = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            index = cls(folder, stated["width"], stated["terms"], stated["ids"], stated["sizes"])
            for _ in index.blocks():
                pass
        except (FileNotFoundError, NotADirectoryError):
            raise UserError("no whole two-part index here", where=folder, mend="build it again") from None
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"a damaged two-part index: {error}", where=folder, mend="build it again") from None
        return index

    def blocks(self) -> Iterator[tuple[np.ndarray, sp.csr_array]]:
        """Dense part [n, width] and lexicon part [n, terms] of consecutive documents."""
        for number, size in enumerate(self.sizes):
            arrays = {name: np.load(self.folder / f"block-{number:05d}.{name}.npy", mmap_mode="r") for name in ("dense", *CSR)}
            if arrays["dense"].shape != (size, self.width) or len(arrays["indptr"]) != size + 1:
                raise ValueError(f"block {number} does not hold {size} documents")
            yield arrays["dense"], sp.csr_array(tuple(arrays[name] for name in CSR), shape=(size, self.terms))

    def search(self, queries: sp.csr_array, k: int) -> list[Hits]:
        """The k best documents of each query, CSR [q, width + terms]; equal scores in document order."""
        return [hits for start in range(0, queries.shape[0], QUERIES) for hits in self._search(queries[start : start + QUERIES], k)]

    def _search(self, queries: sp.csr_array, k: int) -> list[Hits]:
        sentences, words = queries[:, : self.width].toarray().T, queries[:, self.width :].toarray().T
        best = [(np.zeros(0, np.int64), np.zeros(0, np.float32))] * queries.shape[0]
        begin = 0
        for dense, lexicon in self.blocks():
            scores = (dense @ sentences + lexicon @ words).T
            for query, row in enumerate(scores):
                positions = np.concatenate([best[query][0], np.arange(begin, begin + len(row))])
                values = np.concatenate([best[query][1], row])
                order = np.lexsort((positions, -values))[:k]
                best[query] = positions[order], values[order]
            begin += len(dense)
        return best

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def bytes(self) -> int:
        """Size on disk."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())
