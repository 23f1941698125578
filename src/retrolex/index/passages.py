"""Documents found by their passages: an index over passages, seen as one over documents.

Passages are fetched from the index under it until the documents' order is certain, so that the answer is what scoring every
passage of every document would give, and `k` documents come back however many top passages one of them owns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.index.base import Hits, Index
from retrolex.tokens.passages import Passages

PASSAGES, SETTINGS = "passages", "passages.json"  # the folder within an index stage's, and the file in it
Score = Literal["best", "first", "top3"]
TOP = 3  # passages whose scores are summed by ``top3``
GROWTH = 4  # passages are fetched again, so many times as deep, where they do not settle the order


def describe_passages(folder: Path, passages: Passages, ids: Sequence[str], score: Score, separator: str = " ") -> None:
    """Write what an index over passages needs to answer with documents.

    Args:
        folder: made if need be.
        passages: in the order of the index.
        ids: of the documents.
        score: see `PassageIndex`.
        separator: what stood between title and text of the documents that were cut into passages.
    """
    Path(folder).mkdir(exist_ok=True)
    passages.save(folder)
    write_json(Path(folder) / SETTINGS, {"score": score, "separator": separator, "ids": list(ids)})


class Found(NamedTuple):
    """One query's documents, best first.

    Attributes:
        documents: positions, int64.
        scores: see `PassageIndex`; float64.
        passages: each document's best passage (``first``: its first), int64.
    """

    documents: np.ndarray
    scores: np.ndarray
    passages: np.ndarray


class PassageIndex:
    """See `Index`.

    Args:
        index: over the passages. It returns the passages of highest score; what it leaves out of an exhaustive search scores 0.
        passages: whose they are.
        ids: of the documents.
        score: of a document: that of its ``best`` passage, of its ``first``, or the sum of its best three (``top3``), of fewer where
            it has fewer.
        separator: see `describe_passages`.
        map_bytes: size on disk of what leads from passages to documents.
    """

    def __init__(self, index: Index, passages: Passages, ids: Sequence[str], score: Score = "best", separator: str = " ", map_bytes: int = 0):
        if passages.documents != len(ids) or len(passages.document) != len(index):
            raise ValueError(f"{len(index)} passages, of {len(passages.document)} mapped; {len(ids)} documents, of {passages.documents} mapped")
        self.index, self.passages, self.ids, self.score = index, passages, ids, score
        self.separator, self.map_bytes = separator, map_bytes
        self.first = passages.first
        self.owner = np.asarray(passages.document)

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def open(cls, folder: Path, index: Index) -> PassageIndex:
        """An index over passages, with what `describe_passages` wrote.

        Raises:
            UserError: the description is missing, damaged, or another index's.
        """
        path = Path(folder) / SETTINGS
        try:
            stated = json.loads(path.read_text(encoding="utf-8"))
            taken = sum(file.stat().st_size for file in path.parent.iterdir())
            return cls(index, Passages.open(folder), stated["ids"], stated["score"], stated["separator"], taken)
        except (OSError, KeyError, ValueError) as error:
            raise UserError(f"no passages of this index: {error}", where=path, mend="build it again") from None

    @property
    def bytes(self) -> int:
        """Size on disk."""
        return self.index.bytes + self.map_bytes

    def search(self, queries: Any, k: int) -> list[Hits]:
        """The best `k` documents of each query; equal scores in document order."""
        return [(found.documents, found.scores) for found in self.find(queries, k)]

    def find(self, queries: Any, k: int) -> list[Found]:
        """`search`, with the passages that decided."""
        count, total = queries.shape[0], len(self.owner)
        found: dict[int, Found] = {}
        depth = min(total, k if total == len(self) else 2 * k)
        while len(found) < count:
            left = [row for row in range(count) if row not in found]
            for row, hits in zip(left, self.index.search(queries[left], max(depth, 1)), strict=True):
                settled = self.settle(*hits, k, complete=len(hits[0]) < depth or depth >= total)
                if settled is not None:
                    found[row] = settled
            depth = min(total, GROWTH * depth)
        return [found[row] for row in range(count)]

    def settle(self, passages: np.ndarray, scores: np.ndarray, k: int, complete: bool) -> Found | None:
        """The best `k` documents as far as these passages, best first, settle them; None where deeper ones could change them.

        Args:
            passages, scores: of one query.
            complete: whether these are all that there are.
        """
        owners, scores = self.owner[passages], scores.astype(np.float64)
        if self.score == "first":
            kept = passages == self.first[owners]
            passages, owners, scores = passages[kept], owners[kept], scores[kept]
        documents, earliest, inverse = np.unique(owners, return_index=True, return_inverse=True)
        if self.score != "top3":
            order = np.sort(earliest)[:k]
            return Found(owners[order], scores[order], passages[order]) if complete or len(order) >= k else None
        return self.settle_sums(documents, passages[earliest], *sums(inverse, scores, len(documents)), scores, k, complete)

    def settle_sums(
        self, documents: np.ndarray, best: np.ndarray, totals: np.ndarray, seen: np.ndarray, scores: np.ndarray, k: int, complete: bool
    ) -> Found | None:
        """`settle` for sums of three.

        Args:
            documents, best, totals, seen: of each document found: its position, its best passage, the sum of its passages so far, and
                how many these are.
        """
        wanted = np.minimum(np.diff(self.first)[documents], TOP)
        whole = (seen >= wanted) | complete
        ranked = np.lexsort((documents, -totals))
        order = ranked[whole[ranked]][:k]
        if not complete:
            # No passage that is still out scores above the last one here: what could the documents reach that are not whole?
            deepest = float(scores[-1]) if len(scores) else np.inf
            reach = totals + (wanted - seen) * deepest
            unseen = max(TOP * deepest, deepest) if len(documents) < len(self) else -np.inf
            highest = max(reach[~whole].max(initial=-np.inf), unseen)
            if len(order) < k or totals[order[-1]] <= highest:
                return None
        return Found(documents[order], totals[order], best[order])


def sums(inverse: np.ndarray, scores: np.ndarray, documents: int) -> tuple[np.ndarray, np.ndarray]:
    """Sum of the first three scores of each document, and how many passages it has here, up to three.

    Args:
        inverse: number of each passage's document, int64 [n].
        scores: of the passages, falling [n].
        documents: how many there are.
    """
    order = np.argsort(inverse, kind="stable")
    sizes = np.bincount(inverse, minlength=documents)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    top = order[rank < TOP]
    return np.bincount(inverse[top], scores[top], minlength=documents), np.minimum(sizes, TOP)
