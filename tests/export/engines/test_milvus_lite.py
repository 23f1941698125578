"""The real Milvus (its embedded edition): the exported rows put in, `query_for`'s bodies asked, the same rankings out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.export.engines.comparing import assert_same

from retrolex.export.engines import milvus
from retrolex.export.engines.results import Hit, best
from retrolex.export.queries import collection_queries
from retrolex.export.source import Source
from retrolex.export.vectors import open_vectors
from retrolex.index.base import Run

ALL = 300  # documents: Milvus orders equal scores as it likes, so all are asked for


def create(client: Any, stated: dict[str, Any]) -> None:
    """The collection that ``collections/create`` would make of `stated`, field by field."""
    from pymilvus import DataType

    kinds = {"Int64": DataType.INT64, "VarChar": DataType.VARCHAR, "FloatVector": DataType.FLOAT_VECTOR}
    kinds["SparseFloatVector"] = DataType.SPARSE_FLOAT_VECTOR
    schema = client.create_schema(auto_id=stated["schema"]["autoId"], enable_dynamic_field=stated["schema"]["enableDynamicField"])
    for field in stated["schema"]["fields"]:
        options = {name: int(value) for name, value in field.get("elementTypeParams", {}).items()}
        schema.add_field(field["fieldName"], kinds[field["dataType"]], is_primary=field.get("isPrimary", False), **options)
    indexes = client.prepare_index_params()
    for index in stated["indexParams"]:
        indexes.add_index(index["fieldName"], index_type=index["indexType"], index_name=index["indexName"], metric_type=index["metricType"])
    client.create_collection(stated["collectionName"], schema=schema, index_params=indexes)


def row_of(stated: dict[str, Any]) -> dict[str, Any]:
    """A row of the bulk import as the client takes it: a sparse vector as a mapping to floats."""
    if "terms" in stated:
        stated["terms"] = dict(zip(stated["terms"]["indices"], map(float, stated["terms"]["values"]), strict=True))
    return stated


@pytest.mark.parametrize("system", ["lexicon", "dense"])
def test_rankings_are_the_embedded_indexs(system: str, request: pytest.FixtureRequest, wanted: Callable[[Source, int], Run], tmp_path: Path) -> None:
    pytest.importorskip("milvus_lite", reason="needs Milvus: pip install milvus-lite pymilvus")
    pymilvus = pytest.importorskip("pymilvus", reason="needs Milvus's client: pip install pymilvus")
    source = request.getfixturevalue(system)
    milvus.export(source, tmp_path)
    stated = json.loads((tmp_path / "collection.json").read_text(encoding="utf-8"))
    client = pymilvus.MilvusClient(str(tmp_path / "milvus.db"))
    create(client, stated)
    for part in sorted(tmp_path.glob("documents-*.json")):
        rows = [row_of(row) for row in json.loads(part.read_text(encoding="utf-8"))["rows"]]
        # Lite refuses documents without terms; the server was not tried
        client.insert(stated["collectionName"], [row for row in rows if row.get("terms", True)])
    vectors, found = open_vectors(source), {}
    for id, vector in collection_queries(source, vectors):
        body = milvus.query(vectors.form, vector, ALL)
        data = [{int(column): float(weight) for column, weight in asked.items()} if system == "lexicon" else asked for asked in body["data"]]
        [hits] = client.search(
            body["collectionName"], data, anns_field=body["annsField"], limit=body["limit"], output_fields=body["outputFields"],
            search_params={"metric_type": body["searchParams"]["metricType"], "params": body["searchParams"]["params"]},
        ) if vector else [[]]  # fmt: skip
        found[id] = best((Hit(hit["entity"]["id"], hit["position"], hit["distance"]) for hit in hits), 50)
    client.close()
    exact = system == "lexicon"
    assert_same(found, wanted(source, 50 if exact else 100), exact)
