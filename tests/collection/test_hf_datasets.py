"""Hugging Face data sets, from folders, and what is said when one cannot be had."""

from __future__ import annotations

import builtins
import sys
import types

import pytest

from retrolex.collection import Document, import_collection, source_fingerprint
from retrolex.collection.readers import detect
from retrolex.errors import UserError

datasets = pytest.importorskip("datasets", reason="the package datasets is not installed")
TWO = [Document("1", "T", "one"), Document("2", "", "two")]
CORPUS = {"_id": ["1", "2"], "title": ["T", None], "text": ["one", "two"]}
QUERIES = {"_id": ["q1", "q2"], "text": ["first?", ""]}
QRELS = {"query-id": ["q1", "q1"], "corpus-id": ["1", "2"], "score": [1, 0]}


@pytest.fixture(autouse=True)
def quiet(tmp_path, monkeypatch):
    datasets.disable_progress_bars()
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def table(columns: dict) -> datasets.Dataset:
    return datasets.Dataset.from_dict(columns)


def test_saved_data_set(tmp_path, importing):
    table({**CORPUS, "vector": [[0.1], [0.2]]}).save_to_disk(tmp_path / "one")
    imported = importing(tmp_path / "one")
    assert list(imported.collection) == TWO and imported.counts["reader"] == "hf"
    assert source_fingerprint(tmp_path / "one")["files"].keys() == {"data-00000-of-00001.arrow", "dataset_info.json", "state.json"}
    assert importing(f"hf:{tmp_path}/one").collection.ids == ["1", "2"]


def test_saved_splits(tmp_path, importing, capsys):
    parts = {"corpus": CORPUS, "queries": QUERIES, "validation": QRELS, "qrels_test": {**QRELS, "score": ["1", "2.0"]}, "extra": {"text": ["x"]}}
    datasets.DatasetDict({name: table(columns) for name, columns in parts.items()}).save_to_disk(tmp_path / "all")
    imported = importing(tmp_path / "all")
    assert list(imported.collection) == TWO and imported.collection.queries == {"q1": "first?"}
    splits = {split: imported.collection.qrels(split) for split in imported.collection.splits}
    assert splits == {"dev": {"q1": {"1": 1, "2": 0}}, "test": {"q1": {"1": 1, "2": 2}}}
    assert [(reject["line"], reject["reason"]) for reject in imported.rejects] == [(2, "query 'q2' is empty")]
    assert "extra left alone" in capsys.readouterr().err


def test_columns_ids_and_splits_without_a_corpus(tmp_path, importing):
    datasets.DatasetDict({"train": table({"says": ["one"]}), "test": table({"says": ["two"]})}).save_to_disk(tmp_path / "two")
    imported = importing(tmp_path / "two", columns={"text": "says"})
    assert [tuple(document) for document in imported.collection] == [("train:1", "", "one"), ("test:1", "", "two")]


def test_folder_of_data_files_with_a_card(tmp_path, importing):
    (tmp_path / "b" / "data").mkdir(parents=True)
    table(CORPUS).to_parquet(tmp_path / "b" / "data" / "train-00000-of-00001.parquet")
    card = "---\nlicense: mit\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/*.parquet\n---\n# Card\n"
    (tmp_path / "b" / "README.md").write_text(card, encoding="utf-8")
    assert detect(tmp_path / "b") == "hf"
    assert list(importing(tmp_path / "b").collection) == TWO


def refused(source, target, **options) -> str:
    with pytest.raises(UserError) as caught:
        import_collection(source, target, **options)
    return str(caught.value)


def test_refused(tmp_path):
    assert "no such file or folder" in refused(tmp_path / "nothing", tmp_path, reader="hf")
    message = refused("hf:nobody/nothing-like-this", tmp_path)
    assert "hf:nobody/nothing-like-this: datasets says: " in message and "To mend it: check the name" in message
    table({"_id": ["1", "1"], "text": ["a", "b"]}).save_to_disk(tmp_path / "twice")
    assert "twice:2: the id '1' has occurred before, at " in refused(tmp_path / "twice", tmp_path)
    (tmp_path / "twice" / "state.json").write_text("{", encoding="utf-8")
    assert "datasets says: " in refused(tmp_path / "twice", tmp_path)


def test_a_data_set_of_the_hub(tmp_path, monkeypatch, importing):
    """The hub's part is played by a stand-in: two configurations, as MTEB has them."""
    corpus, queries, qrels = (table(columns) for columns in (CORPUS, QUERIES, QRELS))
    configurations = {"default": {"test": qrels}, "corpus": {"corpus": corpus}, "queries": {"queries": queries}}
    hub = types.ModuleType("datasets")
    hub.get_dataset_config_names = lambda name: list(configurations)
    hub.load_dataset = lambda name, one: configurations[one]
    monkeypatch.setitem(sys.modules, "datasets", hub)
    imported = importing("hf:someone/nice")
    assert list(imported.collection) == TWO and imported.collection.qrels("test") == {"q1": {"1": 1, "2": 0}}
    assert source_fingerprint("hf:someone/nice") == {"reader": "hf", "dataset": "hf:someone/nice", "files": []}
    assert importing("hf:someone/nice:corpus").collection.queries == {}
    del configurations["default"], configurations["corpus"]
    configurations["other"] = {"train": corpus}
    assert "several configurations: queries, other" in refused("hf:someone/nice", tmp_path)


def test_without_the_package(tmp_path, monkeypatch):
    real = builtins.__import__
    monkeypatch.delitem(sys.modules, "datasets")
    monkeypatch.setattr("retrolex.collection.readers.foreign.import_module", lambda name: real("no_such_module_here"))
    assert "pip install 'retrolex[datasets]'" in refused("hf:someone/nice", tmp_path)
    assert "pip install 'retrolex[ir_datasets]'" in refused("ir_datasets:vaswani", tmp_path)
