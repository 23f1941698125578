"""The hits of many queries on disk, eight bytes each: runs and teacher scores may be larger than memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from retrolex.index.base import Hits

HIT = np.dtype([("position", "<i4"), ("score", "<f4")])
ABSENT = -1  # position of a document that is not in the collection: it keeps its place in the ranking


class Ranked:
    """Query id -> positions and scores by falling score, equal scores in the order given.

    Args:
        path: of the hits, one query's after another's.
        spans: query id -> begin and end of its hits in the file, in order.
        depth: hits a query at most; None for all.
        counts: rows read, rows of queries nobody asked for, rows of documents that are not in the collection.
    """

    def __init__(self, path: Path, spans: dict[str, list[tuple[int, int]]], depth: int | None, counts: dict[str, int]):
        self.path, self.spans, self.depth, self.counts = path, spans, depth, counts

    @classmethod
    def write(
        cls,
        path: Path,
        rows: Iterable[tuple[str, str, float]],
        position: Callable[[str], int | None],
        wanted: Container[str],
        depth: int | None = None,
    ) -> Ranked:
        """Store rows of (query id, document id, score), which may come in any order and are fastest grouped by query.

        Args:
            path: the file to write; replaced if there.
            rows: read once, in one pass.
            position: of a document id in the collection; None where there is none.
            wanted: the query ids that will be looked up.
            depth: hits a query to keep, the best.
        """
        spans: dict[str, list[tuple[int, int]]] = {}
        counts, end = Counter({"rows": 0, "rows of other queries": 0, "documents not in the collection": 0}), 0
        with open(path, "wb") as file:
            for query, group in groupby(rows, key=itemgetter(0)):
                found = [(position(document), score) for _, document, score in group]
                hits = np.array([(ABSENT if place is None else place, score) for place, score in found], HIT)
                counts["rows"] += len(hits)
                counts["documents not in the collection"] += sum(place is None for place, _ in found)
                if query not in wanted:
                    counts["rows of other queries"] += len(hits)
                    continue
                hits = _best(hits, depth)
                file.write(hits.tobytes())
                spans.setdefault(query, []).append((end, end + len(hits)))
                end += len(hits)
        return cls(path, spans, depth, dict(counts))

    def __contains__(self, query: str) -> bool:
        """Whether any row named this query."""
        return query in self.spans

    def __getitem__(self, query: str) -> Hits:
        """Positions (int64; `ABSENT` for a document that is not in the collection) and scores (float32), best first."""
        parts = [np.fromfile(self.path, HIT, end - begin, offset=begin * HIT.itemsize) for begin, end in self.spans[query]]
        hits = _best(np.concatenate(parts), self.depth)
        return hits["position"].astype(np.int64), hits["score"].astype(np.float32)


def _best(hits: np.ndarray, depth: int | None) -> np.ndarray:
    return hits[np.argsort(-hits["score"], kind="stable")][:depth]
