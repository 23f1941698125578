"""A second look at the best documents: a cross-encoder reads query and document together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from retrolex.backbones.cross_encoders import load_cross_encoder
from retrolex.index.base import Run

DEPTH = 50  # documents a query that are read again


class Reranker:
    """Any sentence-transformers ``CrossEncoder``.

    Args:
        model: folder or hub name.

    Raises:
        UserError: nothing loadable there, or a model of several outputs.
    """

    def __init__(self, model: str | Path):
        self.model = load_cross_encoder(model)

    def rerank(self, run: Run, queries: Mapping[str, str], text: Callable[[str], str], depth: int = DEPTH) -> Run:
        """The first `depth` hits of each query by the cross-encoder's score, equal scores in their old order; the rest is cut off.

        Args:
            run: what to rerank.
            queries: id -> text.
            text: document id -> text.
        """
        pairs = [(query, document) for query, hits in run.items() for document, _ in hits[:depth]]
        if not pairs:
            return {query: [] for query in run}
        scores = self.model.predict([(queries[query], text(document)) for query, document in pairs], show_progress_bar=False)
        result: Run = {query: [] for query in run}
        for (query, document), score in zip(pairs, scores, strict=True):
            result[query].append((document, float(score)))
        return {query: sorted(hits, key=lambda hit: -hit[1]) for query, hits in result.items()}
