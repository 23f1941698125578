"""The main job on a tiny collection: every stage's folder, skipping, and what a run without judgments does."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.pipeline.small import small_recipe

from retrolex.artifacts import read_manifest
from retrolex.errors import UserError
from retrolex.pipeline.reporting import rewrite_report
from retrolex.pipeline.run import run
from retrolex.search.searcher import Searcher


def test_text_in_measured_search_out(tmp_path, collection_folder, tiny_model_folder, capfd):
    recipe = small_recipe(collection_folder, tiny_model_folder, tmp_path / "run")
    outcome = run(recipe)
    names = [row.name for row in outcome.results.rows]
    assert names == ["BM25", "start dense", "adapted dense", "start lexicon", "adapted lexicon", "hybrid"]
    assert all(row.index_bytes > 0 and row.ms_per_query > 0 for row in outcome.results.rows)
    page = outcome.report.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and "Adaptation, dense" in page and "Adaptation, lexicon" in page and "start dense" in page
    for folder in ("collection", "bm25", "pairs", "search", "hybrid", "evaluate", "report", "dense/model", "lexicon/model"):
        assert read_manifest(tmp_path / "run" / folder), folder
    assert not list((tmp_path / "run").rglob("*.partial"))
    assert not list((tmp_path / "run").rglob("checkpoints"))

    hybrid = json.loads((tmp_path / "run" / "hybrid" / "systems.json").read_text(encoding="utf-8"))
    assert "dev split" in hybrid["hybrid"]["reason"]

    answers = Searcher.open(tmp_path / "run").search("the wing carries the load", k=3)
    assert [answer.rank for answer in answers] == [1, 2, 3]
    assert all(answer.found_by for answer in answers)

    capfd.readouterr()
    run(recipe)
    said = capfd.readouterr().err
    assert said.count("up to date, skipped") == len([line for line in said.splitlines() if line.startswith("[")])


def test_without_judgments_held_out_pseudo_queries_are_measured_and_the_report_says_so(tmp_path, collection_folder, tiny_model_folder, capfd):
    shutil.rmtree(collection_folder / "qrels")
    recipe = small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", "lexicon=null", "dense.pretrain=null")
    outcome = run(recipe)
    assert outcome.split == "held-out"
    page = outcome.report.read_text(encoding="utf-8")
    assert "no judgments" in page
    said = capfd.readouterr().err
    assert "No judgments: measured with" in said
    assert "cannot tell systems apart" in said
    outcome.report.unlink()
    assert rewrite_report(tmp_path / "run").read_text(encoding="utf-8") == page


def test_a_split_that_is_not_there_is_refused(tmp_path, collection_folder, tiny_model_folder):
    with pytest.raises(UserError, match=r"evaluate\.split"):
        run(small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", "evaluate.split=validation"))
