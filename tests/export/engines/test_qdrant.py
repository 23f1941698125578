"""The real Qdrant engine (its embedded edition) behind the REST shapes of its documentation: the same rankings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.export.engines.comparing import assert_same
from tests.export.engines.servers import serving

from retrolex.errors import UserError
from retrolex.export.engines import qdrant
from retrolex.export.queries import collection_queries
from retrolex.export.source import Source
from retrolex.export.vectors import open_vectors
from retrolex.index.base import Run


class Edge:
    """Collections of Qdrant Edge, spoken to in REST bodies."""

    def __init__(self, folder: Path):
        self.engine = pytest.importorskip("qdrant_edge", reason="needs Qdrant: pip install qdrant-edge-py (35 MB)")
        self.folder, self.shards = folder, {}

    def create(self, name: str, body: dict[str, Any]) -> None:
        engine = self.engine
        dense = {
            key: engine.EdgeVectorParams(size=stated["size"], distance=getattr(engine.Distance, stated["distance"]))
            for key, stated in body.get("vectors", {}).items()
        }
        sparse = {key: engine.EdgeSparseVectorParams() for key in body.get("sparse_vectors", {})}
        (self.folder / name).mkdir()
        self.shards[name] = engine.EdgeShard.create(str(self.folder / name), engine.EdgeConfig(vectors=dense or None, sparse_vectors=sparse or None))

    def vector(self, value: Any) -> Any:
        return self.engine.SparseVector(value["indices"], value["values"]) if isinstance(value, dict) else value

    def upsert(self, name: str, body: dict[str, Any]) -> None:
        points = [
            self.engine.Point(point["id"], {key: self.vector(value) for key, value in point["vector"].items()}, point["payload"])
            for point in body["points"]
        ]
        self.shards[name].update(self.engine.UpdateOperation.upsert_points(points))

    def query(self, name: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        asked = self.engine.Query.Nearest(self.vector(body["query"]), using=body["using"])
        params = self.engine.SearchParams(exact=True) if body.get("params") == {"exact": True} else None
        request = self.engine.QueryRequest(limit=body["limit"], query=asked, with_payload=body["with_payload"], params=params)
        return [{"id": point.id, "score": point.score, "payload": point.payload} for point in self.shards[name].query(request)]

    def answer(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        """The few requests that an export and a search make."""
        stated = json.loads(body) if body else None
        name, _, action = path.removeprefix("/collections/").partition("/")
        if name not in self.shards and (method, action) != ("PUT", ""):
            return 404, {"status": {"error": f"Not found: Collection `{name}` doesn't exist!"}}
        if (method, action) == ("PUT", ""):
            return 200, {"result": self.create(name, stated) is None}
        if (method, action) == ("PUT", "points?wait=true"):
            return 200, {"result": {"status": "completed" if self.upsert(name, stated) is None else ""}}
        if (method, action) == ("POST", "points/count"):
            return 200, {"result": {"count": self.shards[name].count(self.engine.CountRequest(exact=True))}}
        if (method, action) == ("POST", "points/query"):
            return 200, {"result": {"points": self.query(name, stated)}}
        if (method, action) == ("DELETE", ""):
            del self.shards[name]
        return 200, {"result": True}


@pytest.fixture
def edge(tmp_path: Path) -> Edge:
    return Edge(tmp_path)


@pytest.mark.parametrize("system", ["lexicon", "dense"])
def test_rankings_are_the_embedded_indexs(edge: Edge, system: str, request: pytest.FixtureRequest, wanted: Callable[[Source, int], Run]) -> None:
    source = request.getfixturevalue(system)
    vectors = open_vectors(source)
    with serving(edge.answer) as url:
        assert qdrant.load(vectors, f"{url}/docs") == 300
        queries = dict(collection_queries(source, vectors))
        found = qdrant.search(f"{url}/docs", vectors.form, list(queries.values()), 50)
        exact = system == "lexicon"
        assert_same(dict(zip(queries, found, strict=True)), wanted(source, 50 if exact else 100), exact)
        with pytest.raises(UserError, match="there already"):
            qdrant.load(vectors, f"{url}/docs")


@pytest.mark.parametrize("system", ["lexicon", "dense"])
def test_the_files_load(edge: Edge, system: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    source = request.getfixturevalue(system)
    (tmp_path / "out").mkdir()
    assert qdrant.export(source, tmp_path / "out") == {"documents": 300}
    edge.create("docs", json.loads((tmp_path / "out" / "collection.json").read_text()))
    for line in (tmp_path / "out" / "points.jsonl").read_text(encoding="utf-8").splitlines():
        edge.upsert("docs", json.loads(line))
    assert edge.shards["docs"].count(edge.engine.CountRequest(exact=True)) == 300


def test_a_failed_load_leaves_nothing(edge: Edge, lexicon: Source) -> None:
    def full(method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        return (507, {"status": {"error": "disk full"}}) if "points?" in path else edge.answer(method, path, body, headers)

    with serving(full) as url, pytest.raises(UserError, match="disk full"):
        qdrant.load(open_vectors(lexicon), f"{url}/docs")
    assert not edge.shards


def test_a_query_without_terms_finds_nothing(lexicon: Source) -> None:
    assert qdrant.search("http://localhost:1/docs", open_vectors(lexicon).form, [{}], 5) == [[]]
