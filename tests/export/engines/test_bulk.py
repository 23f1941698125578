"""OpenSearch and Elasticsearch: their documented requests, answered by a server that scores as Lucene's feature fields do."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export.engines.comparing import assert_same
from tests.export.engines.servers import serving

from retrolex.errors import UserError
from retrolex.export.engines import bulk, elasticsearch, opensearch
from retrolex.export.engines.results import inner_product
from retrolex.export.form import Form
from retrolex.export.queries import collection_queries
from retrolex.export.source import Source
from retrolex.export.vectors import Vectors, open_vectors
from retrolex.index.base import Run

ENGINES = {"opensearch": opensearch, "elasticsearch": elasticsearch}
LEXICON_TYPES = {"opensearch": "rank_features", "elasticsearch": "sparse_vector"}


def stored(weight: float) -> np.float32:
    """A feature's value in Lucene's index: the first nine significant bits of a 32-bit float."""
    return ((np.float32(weight).view(np.int32) >> 15) << 15).view(np.float32)


def positive(product: float) -> float:
    """The score of an inner product, which has to be positive."""
    return product + 1 if product >= 0 else 1 / (1 - product)


class Search:
    """An engine as its documentation describes it: strict mappings, positive features without dots, weights up to 64, float scores."""

    def __init__(self, name: str):
        self.name, self.indexes, self.headers = name, {}, {}

    def answer(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        self.headers = headers
        index, _, action = path[1:].partition("/")
        if method == "PUT" and not action:
            self.indexes[index] = (json.loads(body)["mappings"], {})
            return 200, {"acknowledged": True, "index": index}
        if index not in self.indexes:
            return 404, {"error": {"type": "index_not_found_exception"}, "status": 404}
        mappings, documents = self.indexes[index]
        if method == "DELETE":
            del self.indexes[index]
        if action == "_bulk":
            assert headers["Content-Type"] == "application/x-ndjson"
            assert body.endswith(b"\n")
            return 200, self.bulk(mappings, documents, body.decode().split("\n")[:-1])
        if action == "_count":
            return 200, {"count": len(documents)}
        if action == "_mapping":
            return 200, {f"{index}-concrete": {"mappings": mappings}}
        if action == "_search":
            return 200, {"hits": {"hits": self.search(mappings, documents, json.loads(body))}}
        return 200, {"acknowledged": True}

    def bulk(self, mappings: dict, documents: dict, lines: list[str]) -> dict[str, Any]:
        items = []
        for action, source in zip(map(json.loads, lines[::2]), map(json.loads, lines[1::2]), strict=True):
            assert set(source) <= set(mappings["properties"])
            wrong = [term for term, weight in source.get("terms", {}).items() if "." in term or weight <= 0]
            number = action["index"]["_id"]
            items.append({"index": {"_id": number} | ({"error": {"reason": f"feature {wrong[0]}"}} if wrong else {"status": 201})})
            documents[number] = source
        return {"errors": any("error" in item["index"] for item in items), "items": items}

    def search(self, mappings: dict, documents: dict, body: dict) -> list[dict]:
        kind = mappings["properties"].get("terms", mappings["properties"].get("vector"))["type"]
        if kind in LEXICON_TYPES.values():
            assert kind == LEXICON_TYPES[self.name]
            scores = {number: self.features(body["query"], document.get("terms", {})) for number, document in documents.items()}
        else:
            asked = np.array(self.dense_query(kind, body), np.float32)
            scores = {number: positive(float(np.float32(asked @ np.array(document["vector"], np.float32)))) for number, document in documents.items()}
        assert body["sort"] == [{"_score": "desc"}, {"position": "asc"}]
        found = sorted((number for number, score in scores.items() if score > 0), key=lambda n: (-scores[n], documents[n]["position"]))
        sources = [{field: documents[number][field] for field in body["_source"]} for number in found]
        return [{"_id": number, "_score": scores[number], "_source": source} for number, source in zip(found, sources, strict=True)][: body["size"]]

    def features(self, query: dict, terms: dict[str, float]) -> float:
        if self.name == "opensearch":
            asked = query["neural_sparse"]["terms"]["query_tokens"]
        else:
            assert query["sparse_vector"]["field"] == "terms"
            assert query["sparse_vector"]["prune"] is False
            asked = query["sparse_vector"]["query_vector"]
        assert all(0 < weight <= 64 for weight in asked.values())
        return float(np.float32(sum(float(np.float32(weight) * stored(terms[term])) for term, weight in asked.items() if term in terms)))

    def dense_query(self, kind: str, body: dict) -> list[float]:
        if self.name == "opensearch":
            script = body["query"]["script_score"]["script"]
            assert kind == "knn_vector"
            assert (script["lang"], script["source"], script["params"]["space_type"]) == ("knn", "knn_score", "innerproduct")
            return script["params"]["query_value"]
        assert kind == "dense_vector"
        assert body["knn"]["k"] <= body["knn"]["num_candidates"] <= 10_000
        return body["knn"]["query_vector"]


@pytest.fixture(params=ENGINES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("system", ["lexicon", "dense"])
def test_rankings_are_the_embedded_indexs(name: str, system: str, request: pytest.FixtureRequest, wanted: Callable[[Source, int], Run]) -> None:
    source, engine, server = request.getfixturevalue(system), ENGINES[name], Search(name)
    vectors, exact = open_vectors(source), system == "lexicon"
    queries = dict(collection_queries(source, vectors))
    with serving(server.answer) as url:
        assert engine.load(vectors, f"{url}/my-docs") == 300
        found = dict(zip(queries, engine.search(f"{url}/my-docs", vectors.form, list(queries.values()), 50), strict=True))
    assert_same(found, wanted(source, 50 if exact else 100), exact)
    assert not exact or vectors.largest() <= 512


@pytest.mark.parametrize("system", ["lexicon", "dense"])
def test_the_files_are_what_is_loaded(name: str, system: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    source, engine, server = request.getfixturevalue(system), ENGINES[name], Search(name)
    counts = engine.export(source, tmp_path)
    assert counts == {"documents": 300} | ({"scale": 100.0} if system == "lexicon" else {})
    server.answer("PUT", "/docs", (tmp_path / "index.json").read_bytes(), {})
    for part in sorted(tmp_path.glob("documents-*.ndjson")):
        _, said = server.answer("POST", "/docs/_bulk", part.read_bytes(), {"Content-Type": "application/x-ndjson"})
        assert not said["errors"]
    with serving(server.answer) as url:
        engine.load(open_vectors(source), f"{url}/loaded")
    assert server.indexes["docs"] == server.indexes["loaded"]


def doubled(vectors: Vectors, times: int) -> Vectors:
    """The same with larger weights."""
    return replace(vectors, blocks=lambda: (block * times for block in vectors.blocks()))


def test_weights_above_512_are_made_smaller_and_the_mapping_says_so(name: str, lexicon: Source) -> None:
    vectors, server = doubled(open_vectors(lexicon), 4), Search(name)
    form, queries = vectors.form, [vector for _, vector in collection_queries(lexicon, vectors)][:20]
    with serving(server.answer) as url:
        ENGINES[name].load(vectors, f"{url}/docs")
        found = ENGINES[name].search(f"{url}/docs", form, queries, 5)
    mappings, documents = server.indexes["docs"]
    multiplier = mappings["_meta"]["retrolex"]["multiplier"]
    assert multiplier == 512 / vectors.largest() < 1
    weights = [weight for document in documents.values() for weight in document.get("terms", {}).values()]
    assert max(weights) == 512
    assert all(type(weight) is int for weight in weights)
    exact = list(vectors.vectors())
    position = {id: at for at, id in enumerate(vectors.collection.ids)}
    for query, hits in zip(queries, found, strict=True):
        for id, score in hits:
            wanted = sum(weight * exact[position[id]].get(column, 0) for column, weight in query.items())
            assert score == pytest.approx(wanted, rel=0.02)


def test_terms_with_dots_are_renamed() -> None:
    form = Form("lexicon", 3, [".", "_", "e.g"])
    assert bulk.query_weights(form, {0: 50, 1: 100, 2: 1}) == {"[0]": 0.5, "_": 1.0, "[2]": 0.01}


def test_a_refused_document_fails_the_load_and_leaves_nothing(lexicon: Source, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Search(name)
    monkeypatch.setattr(bulk, "field_names", lambda form: [f"a.{term}" for term in form.terms])
    with serving(server.answer) as url, pytest.raises(UserError, match="was refused: feature"):
        ENGINES[name].load(open_vectors(lexicon), f"{url}/docs")
    assert not server.indexes


def test_an_index_that_is_there_is_left_alone(lexicon: Source, name: str) -> None:
    server = Search(name)
    server.indexes["docs"] = ({}, {"0": {}})
    with serving(server.answer) as url, pytest.raises(UserError, match="there already"):
        ENGINES[name].load(open_vectors(lexicon), f"{url}/docs")
    assert server.indexes["docs"] == ({}, {"0": {}})


def test_an_index_of_other_vectors_is_refused(lexicon: Source, dense: Source, name: str) -> None:
    server = Search(name)
    with serving(server.answer) as url:
        ENGINES[name].load(open_vectors(dense), f"{url}/docs")
        with pytest.raises(UserError, match="holds no lexicon vectors"):
            ENGINES[name].search(f"{url}/docs", open_vectors(lexicon).form, [{1: 1}], 5)
        with pytest.raises(UserError, match="answers 404"):
            ENGINES[name].search(f"{url}/nothing", open_vectors(lexicon).form, [{1: 1}], 5)


def test_users_and_keys_are_sent(name: str, lexicon: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Search(name)
    with serving(server.answer) as url:
        ENGINES[name].load(open_vectors(lexicon), f"{url.replace('//', '//me:p%40ss@')}/docs")
        assert server.headers["Authorization"] == "Basic " + base64.b64encode(b"me:p@ss").decode()
        monkeypatch.setenv("RETROLEX_API_KEY", "abc")
        ENGINES[name].search(f"{url}/docs", open_vectors(lexicon).form, [{1: 1}], 5)
        assert server.headers["Authorization"] == "ApiKey abc"


@pytest.mark.parametrize("url", ["localhost:9200/docs", "http://localhost:9200", "http://localhost:9200/", "ftp://host/docs"])
def test_an_address_needs_a_server_and_a_name(url: str) -> None:
    with pytest.raises(UserError, match="does not name an index"):
        opensearch.search(url, Form("dense", 2), [[1.0, 0.0]], 1)


def test_no_server_is_one_message(name: str) -> None:
    with pytest.raises(UserError, match="no answer"):
        ENGINES[name].search("http://127.0.0.1:1/docs", Form("dense", 2), [[1.0, 0.0]], 1)


def test_bulk_requests_have_a_bounded_size(lexicon: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = b"".join(bulk.requests(open_vectors(lexicon), 1))
    monkeypatch.setattr(bulk, "PART", 5000)
    parts = list(bulk.requests(open_vectors(lexicon), 1))
    assert len(parts) > 5
    assert max(map(len, parts)) < 10_000
    assert b"".join(parts) == whole


def test_scores_are_turned_back() -> None:
    for product in (-3.0, -0.5, 0.0, 0.7, 12.0):
        assert inner_product(positive(product)) == pytest.approx(product)
