"""Elasticsearch 8.15 or newer: ``sparse_vector`` asked without pruning; dense vectors in a flat, exact index."""

from __future__ import annotations

from typing import Any

from retrolex.export.engines.bulk import TERMS, VECTOR, Engine, envelope, query_weights
from retrolex.export.form import Form, Vector


def field(form: Form) -> dict[str, Any]:
    """The vectors' mapping."""
    if form.lexicon:
        return {"type": "sparse_vector"}
    kind = {"index": True, "similarity": "max_inner_product", "index_options": {"type": "flat"}}
    return {"type": "dense_vector", "dims": form.width, **kind}


def query(form: Form, vector: Vector, k: int = 10) -> dict[str, Any]:
    """The body of ``_search``."""
    if isinstance(vector, dict):
        asked = {"field": TERMS, "query_vector": query_weights(form, vector), "prune": False}
        return envelope({"query": {"sparse_vector": asked}}, k)
    return envelope({"knn": {"field": VECTOR, "query_vector": vector, "k": k, "num_candidates": k}}, k)


ELASTICSEARCH = Engine("elasticsearch", "Elasticsearch", field, query)
export, load, search = ELASTICSEARCH.export, ELASTICSEARCH.load, ELASTICSEARCH.search
