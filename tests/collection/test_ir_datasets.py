"""The catalogue's data sets, through a small one that is registered here."""

from __future__ import annotations

import pytest

from retrolex.collection import Document, import_collection, source_fingerprint
from retrolex.errors import UserError


@pytest.fixture
def catalogue(tmp_path, monkeypatch):
    """The package, with its home in the test's folder."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    return pytest.importorskip("ir_datasets", reason="the package ir_datasets is not installed")


@pytest.fixture
def tiny(catalogue, write):
    """The id of a data set of three documents."""
    made = catalogue.create_dataset(
        docs_tsv=str(write("docs.tsv", "d1\tone\nd2\ttwo é\nd3\t\n")),
        queries_tsv=str(write("queries.tsv", "q1\tfirst?\nq2\tsecond\n")),
        qrels_trec=str(write("qrels", "q1 0 d1 1\nq2 0 d2 -1\n")),
    )
    if "retrolex-tiny/dev" not in catalogue.registry:
        catalogue.registry.register("retrolex-tiny/dev", made)
    else:
        catalogue.registry._registered["retrolex-tiny/dev"] = made
    return "ir_datasets:retrolex-tiny/dev"


def test_documents_queries_and_judgments(tiny, importing):
    imported = importing(tiny)
    assert list(imported.collection) == [Document("d1", "", "one"), Document("d2", "", "two é"), Document("d3", "", "")]
    assert imported.collection.queries == {"q1": "first?", "q2": "second"}
    assert imported.collection.qrels("dev") == {"q1": {"d1": 1}, "q2": {"d2": -1}} and imported.counts["reader"] == "ir_datasets"
    assert source_fingerprint(tiny)["dataset"] == "retrolex-tiny/dev"


def test_unknown_ids(catalogue, tmp_path):
    with pytest.raises(UserError, match=r"knows no data set 'nobody/nothing'.*\n.*ir-datasets\.com"):
        import_collection("ir_datasets:nobody/nothing", tmp_path)
