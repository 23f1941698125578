"""The door: what is exported, from where, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from retrolex.artifacts import read_manifest
from retrolex.backbones import Spec, write_spec
from retrolex.errors import UserError
from retrolex.export import TARGETS, export, writer
from retrolex.export.card import model_card
from retrolex.export.source import open_source


@pytest.fixture
def run(tmp_path: Path, tiny_model_folder: Path) -> Path:
    """A run folder with a dense and a lexicon retriever, as far as an export looks at it."""
    folder = tmp_path / "a-run"
    for name in ("dense", "lexicon"):
        shutil.copytree(tiny_model_folder, folder / name / "model")
        write_spec(folder / name / "model", Spec(representation=name))
    described = {name: {"kind": name, "model": f"{name}/model", "index": f"{name}/index"} for name in ("dense", "lexicon")}
    (folder / "hybrid").mkdir()
    (folder / "hybrid" / "systems.json").write_text(json.dumps({"systems": {"bm25": {"kind": "bm25", "index": "bm25"}} | described}))
    (folder / "recipe.json").write_text(json.dumps({name: {"document_length": 32, "query_length": None} for name in ("dense", "lexicon")}))
    (folder / "evaluate").mkdir()
    (folder / "evaluate" / "results.md").write_text("| system | nDCG@10 |\n", encoding="utf-8")
    return folder


def test_every_target_has_its_function() -> None:
    for target in TARGETS:
        assert callable(writer(target))


def test_a_retriever_of_a_run_is_exported_with_the_lengths_it_was_encoded_with(run: Path, tmp_path: Path) -> None:
    counts = export("sentence-transformers", run, tmp_path / "out", "lexicon")
    assert counts["class"] == "SparseEncoder"
    manifest = read_manifest(tmp_path / "out")
    assert manifest is not None
    assert manifest["config"]["target"] == "sentence-transformers"
    assert json.loads((tmp_path / "out" / "sentence_bert_config.json").read_text())["max_seq_length"] == 32
    assert "| system | nDCG@10 |" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_a_run_with_two_models_asks_which(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="more than one model") as error:
        export("huggingface", run, tmp_path / "out")
    assert "dense, lexicon" in str(error.value)


def test_bm25_has_no_model_to_export(run: Path) -> None:
    with pytest.raises(UserError, match="no retriever 'bm25'"):
        open_source(run, "bm25")


def test_a_folder_that_is_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="neither a model folder nor a finished run"):
        export("onnx", tmp_path, tmp_path / "out")


def test_an_unknown_target_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="sentence-transformers"):
        export("word", tmp_path, tmp_path / "out")


def test_what_is_not_an_export_is_never_replaced(run: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match="something else"):
        export("huggingface", run, tmp_path / "mine", "dense")
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_an_earlier_export_is_replaced(run: Path, tmp_path: Path) -> None:
    export("sentence-transformers", run, tmp_path / "out", "dense")
    export("huggingface", run, tmp_path / "out", "dense")
    assert not (tmp_path / "out" / "modules.json").exists()


def test_the_card_says_when_nothing_was_measured(run: Path) -> None:
    card = model_card(open_source(run / "dense" / "model"), "load()")
    assert "Nothing was measured" in card
    assert "load()" in card
