"""The queries of a run's collection as vectors, for targets that search from a file; and one query for any engine."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from retrolex.errors import UserError
from retrolex.export.form import Form, Vector
from retrolex.export.source import Source
from retrolex.export.vectors import Vectors, scaled
from retrolex.index.lexicon.weights import Weights

if TYPE_CHECKING:
    from retrolex.encoding import Encoder

BATCH = 256  # queries encoded at a time
QUERIES = {  # target -> where the function is that makes an engine's query of a vector
    "anserini": "retrolex.export.json_vectors:anserini_query",
    "seismic": "retrolex.export.json_vectors:seismic_query",
    "pisa": "retrolex.export.ciff:pisa_query",
    "opensearch": "retrolex.export.engines.opensearch:query",
    "elasticsearch": "retrolex.export.engines.elasticsearch:query",
    "qdrant": "retrolex.export.engines.qdrant:query",
    "pgvector": "retrolex.export.engines.pgvector:query",
    "vespa": "retrolex.export.engines.vespa:query",
    "milvus": "retrolex.export.engines.milvus:query",
}


def query_for(target: str, text: str, encoder: Encoder, k: int = 10, weights: Weights = "floor") -> Any:
    """A query in the words of an engine, ready to be sent.

    Args:
        target: one of `QUERIES`.
        text: what is looked for.
        encoder: the model that the engine's documents were encoded with.
        k: hits that the engine is to return.
        weights: of the lexicon index that the documents were exported from.

    Returns:
        opensearch, elasticsearch: the body of ``_search``; qdrant: the body of ``points/query``; milvus: the body of ``entities/search``;
        vespa: the body of ``/search/``; pgvector: SQL and its parameters; anserini: a topic; pisa: terms; seismic: tokens and values.

    Raises:
        UserError: no such target, or the engine cannot take vectors of this kind.
    """
    if target not in QUERIES:
        raise UserError(f"no queries are made for {target!r}", mend=f"choose one of: {', '.join(QUERIES)}")
    form = Form.of(encoder, weights)
    [vector] = form.queries([text], encoder)
    module, name = QUERIES[target].split(":")
    return getattr(import_module(module), name)(form, vector, k)


def collection_queries(source: Source, vectors: Vectors) -> Iterator[tuple[str, Vector]]:
    """Id and vector of every query of the collection; the model is loaded only where there are any."""
    queries = vectors.collection.queries
    if not queries:
        return
    from retrolex.encoding.two_part import open_encoder

    encoder = open_encoder(source.model, source.spec.representation)
    left = iter(queries.items())
    while batch := list(islice(left, BATCH)):
        yield from zip([id for id, _ in batch], vectors.form.queries([text for _, text in batch], encoder), strict=True)


def need_lexicon(form: Form, target: str) -> None:
    """Refuse dense vectors for an engine of terms.

    Raises:
        UserError: they are dense.
    """
    if not form.lexicon:
        raise UserError(f"{target} searches by terms and these vectors are dense", mend="export the lexicon retriever: --system lexicon")


def integers(form: Form, vector: Vector) -> dict[int, int]:
    """A query's weights as integers: the impacts, or hundredths of float weights."""
    assert isinstance(vector, dict)
    return scaled(vector, 1.0 if form.integer else 100.0)
