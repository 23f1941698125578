"""OpenSearch 2.12 or newer: ``rank_features`` asked by ``neural_sparse`` with the query's own tokens; dense vectors by the exact k-NN script."""

from __future__ import annotations

from typing import Any

from retrolex.export.engines.bulk import TERMS, VECTOR, Engine, envelope, query_weights
from retrolex.export.form import Form, Vector


def field(form: Form) -> dict[str, Any]:
    """The vectors' mapping."""
    return {"type": "rank_features"} if form.lexicon else {"type": "knn_vector", "dimension": form.width}


def query(form: Form, vector: Vector, k: int = 10) -> dict[str, Any]:
    """The body of ``_search``."""
    if isinstance(vector, dict):
        return envelope({"query": {"neural_sparse": {TERMS: {"query_tokens": query_weights(form, vector)}}}}, k)
    params = {"field": VECTOR, "query_value": vector, "space_type": "innerproduct"}
    script = {"lang": "knn", "source": "knn_score", "params": params}
    return envelope({"query": {"script_score": {"query": {"match_all": {}}, "script": script}}}, k)


OPENSEARCH = Engine("opensearch", "OpenSearch", field, query)
export, load, search = OPENSEARCH.export, OPENSEARCH.load, OPENSEARCH.search
