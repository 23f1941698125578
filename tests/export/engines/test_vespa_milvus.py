"""Vespa's feed and Milvus's rows against the shapes of their documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from retrolex.export.engines import milvus, vespa
from retrolex.export.form import Form
from retrolex.export.source import Source
from retrolex.export.vectors import open_vectors


def test_vespa_feed_holds_every_impact(lexicon: Source, tmp_path: Path) -> None:
    assert vespa.export(lexicon, tmp_path) == {"documents": 300}
    vectors = open_vectors(lexicon)
    for line, row in zip((tmp_path / "documents.jsonl").read_text(encoding="utf-8").splitlines(), vectors.rows(), strict=True):
        operation = json.loads(line)
        assert re.fullmatch(r"id:doc:doc::[^\s]+", operation["put"])
        fields = operation["fields"]
        assert (fields["id"], fields["title"], fields["text"]) == row[1:4]
        assert fields["terms"] == {vectors.form.terms[column]: weight for column, weight in row.vector.items()}


def test_vespa_application_declares_every_field_of_the_feed(dense: Source, lexicon: Source, tmp_path: Path) -> None:
    for source in (dense, lexicon):
        vespa.export(source, tmp_path)
        schema = (tmp_path / "application" / "schemas" / "doc.sd").read_text(encoding="utf-8")
        declared = set(re.findall(r"field (\w+) type", schema))
        first = json.loads((tmp_path / "documents.jsonl").read_text(encoding="utf-8").splitlines()[0])
        assert set(first["fields"]) == declared
        assert schema.count("{") == schema.count("}")
        services = ElementTree.parse(tmp_path / "application" / "services.xml").getroot()
        assert services.find("content/documents/document").get("type") == "doc"


def test_vespa_queries() -> None:
    asked = vespa.query(Form("lexicon", 3, ["a", 'b"', "##c"]), {0: 120, 1: 3, 2: 5}, 7)
    assert asked["yql"] == r'select id, title from doc where ({targetHits: 7}wand(terms, {"a": 120, "b\"": 3, "##c": 5}))'
    assert (asked["hits"], asked["ranking"]) == (7, "terms")
    near = vespa.query(Form("dense", 2), [0.5, 1.0], 7)
    assert near["yql"] == "select id, title from doc where ({targetHits: 7, approximate: false}nearestNeighbor(vector, q))"
    assert near["input.query(q)"] == [0.5, 1.0]


def test_vespa_text_has_no_control_characters() -> None:
    assert vespa.clean("a\0b\tc\x1f") == "a\ufffdb\tc\ufffd"


@pytest.mark.parametrize("system", ["lexicon", "dense"])
def test_milvus_rows_fit_the_collection(system: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = request.getfixturevalue(system)
    monkeypatch.setattr(milvus, "PART", 20_000)
    assert milvus.export(source, tmp_path) == {"documents": 300, "texts cut": 0}
    stated = json.loads((tmp_path / "collection.json").read_text())
    fields = {field["fieldName"]: field["dataType"] for field in stated["schema"]["fields"]}
    parts = sorted(tmp_path.glob("documents-*.json"))
    rows = [row for part in parts for row in json.loads(part.read_text(encoding="utf-8"))["rows"]]
    assert len(parts) > 1
    for row, expected in zip(rows, open_vectors(source).rows(), strict=True):
        assert set(row) == set(fields)
        assert (row["position"], row["id"], row["title"], row["text"]) == expected[:4]
        if system == "lexicon":
            assert dict(zip(row["terms"]["indices"], row["terms"]["values"], strict=True)) == expected.vector
        else:
            np.testing.assert_array_equal(np.array(row["vector"], np.float32), np.array(expected.vector, np.float32))
    assert stated["indexParams"][0]["metricType"] == "IP"
    assert fields["terms" if system == "lexicon" else "vector"] == ("SparseFloatVector" if system == "lexicon" else "FloatVector")


def test_milvus_queries() -> None:
    asked = milvus.query(Form("lexicon", 10), {3: 120, 7: 1}, 4)
    assert (asked["data"], asked["annsField"], asked["limit"]) == ([{"3": 120, "7": 1}], "terms", 4)
    assert milvus.query(Form("dense", 2), [0.5, 1.0], 4)["data"] == [[0.5, 1.0]]


def test_milvus_cuts_long_texts_between_characters() -> None:
    assert milvus.shortened("x" * 70_000) == "x" * 65_535
    assert milvus.shortened("é" * 40_000) == "é" * 32_767
