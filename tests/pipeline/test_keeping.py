"""The ways to keep a tuned start, each one line of a recipe, all of them switched on in one run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.pipeline.small import small_recipe, write_cross_encoder
from transformers import AutoTokenizer, BertModel

from retrolex.artifacts import read_manifest
from retrolex.errors import UserError
from retrolex.finetuning.guard import GUARDED
from retrolex.finetuning.pairs import read_pairs
from retrolex.pipeline.recipe import Recipe
from retrolex.pipeline.run import run

QUICK = ["lexicon=null", "dense.pretrain.steps=2", "dense.finetune.steps=2", "dense.finetune.hard=2", "pairs.count=12"]


def test_every_way_is_one_line(tmp_path: Path, collection_folder: Path, tiny_model_folder: Path) -> None:
    pytest.importorskip("peft", reason="low-rank adapters need peft")
    teacher = write_cross_encoder(tiny_model_folder, tmp_path / "teacher")
    ways = [
        "dense.guard=true",
        "dense.pretrain.options.keep_start=0.5",
        "dense.finetune.lora=2",
        f"dense.finetune.stages=[{{teacher: {json.dumps(str(teacher))}}}]",
    ]
    recipe = small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", *QUICK, *ways)
    outcome = run(recipe)
    folder = tmp_path / "run/dense"
    assert json.loads((folder / "model" / GUARDED).read_text(encoding="utf-8"))["alpha"] in (0.0, 0.25, 0.5, 0.75, 1.0)
    assert "keep" in json.loads((folder / "pretrain/logs/train.jsonl").read_text(encoding="utf-8").splitlines()[0])
    stage = read_manifest(folder / "finetune-1")
    assert (stage["config"]["lora"], stage["config"]["loss"]) == (2, "distill")
    assert {pair.kind for pair in read_pairs(tmp_path / "run/pairs/train.jsonl")} <= {"title", "lead", "cloze"}
    assert read_manifest(folder / "teacher-1")["counts"]["scores"] == 12 * 3
    assert "adapted dense" in [row.name for row in outcome.results.rows]
    assert Recipe.model_validate(recipe.plain()) == recipe


def test_a_start_that_makes_such_vectors_is_guarded_unless_told_otherwise(tmp_path: Path, collection_folder: Path, tiny_model_folder: Path) -> None:
    BertModel.from_pretrained(tiny_model_folder).save_pretrained(tmp_path / "start")
    AutoTokenizer.from_pretrained(tiny_model_folder).save_pretrained(tmp_path / "start")
    short = ["lexicon.pretrain.steps=2", "lexicon.pretrain.probe_every=2", "lexicon.finetune.steps=2", "dense.finetune.steps=2"]
    short += ["dense.pretrain=null"]
    told = {"whole": [], "headless": [], "told": ["lexicon.guard=false"]}
    starts = {"whole": tiny_model_folder, "headless": tmp_path / "start", "told": tiny_model_folder}
    for name, start in starts.items():
        run(small_recipe(collection_folder, start, tmp_path / name, *short, *told[name]))
        assert (tmp_path / name / "lexicon/model" / GUARDED).exists() == (name == "whole")
        assert (tmp_path / name / "dense/model" / GUARDED).exists()


def test_a_weight_that_is_none_stops_the_run(tmp_path: Path, collection_folder: Path, tiny_model_folder: Path) -> None:
    recipe = small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", *QUICK, "dense.pretrain.options.keep_start=-1")
    with pytest.raises(UserError, match="keep_start is -1"):
        run(recipe)
