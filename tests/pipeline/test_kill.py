"""kill -9 in every stage, the same command again: the indexes and runs end in the same bytes as an undisturbed run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.pipeline.small import small_recipe, write_cross_encoder

from retrolex.artifacts import content_hash
from retrolex.pipeline.finetune_only import finetune_only
from retrolex.pipeline.recipe import Recipe
from retrolex.pipeline.run import run

COMPARED = ["collection", "pairs", "search", "hybrid"]  # the table in `evaluate` states milliseconds, which no two runs share
COMPARED += [f"dense/{part}" for part in ("pretrain", "finetune", "model", "start-vectors", "start-index")]
COMPARED += [f"lexicon/{part}" for part in ("pretrain", "finetune", "vectors", "index")]


STAGED = [f"dense/{part}" for part in ("negatives-1", "finetune-1", "negatives-2", "finetune-2", "negatives-3", "teacher-3", "finetune-3")]
pytestmark = [pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL"), pytest.mark.timeout(900)]


def killed(recipe: Recipe, verb: str, file: Path) -> None:
    """Let the driver kill the recipe's run in every stage, and then finish it."""
    file.write_text(json.dumps(recipe.plain()), encoding="utf-8")
    driver = Path(__file__).with_name("kill_driver.py")
    done = subprocess.run([sys.executable, str(driver), str(file), verb], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_run_killed_in_every_stage_ends_in_the_same_bytes(tmp_path, collection_folder, tiny_model_folder):
    adapted = "lexicon.guard=false"  # so that its adapted vectors are made, whatever the guard would say
    killed(small_recipe(collection_folder, tiny_model_folder, tmp_path / "killed", adapted), "run", tmp_path / "recipe.json")
    run(small_recipe(collection_folder, tiny_model_folder, tmp_path / "undisturbed", adapted))
    for folder in COMPARED:
        assert content_hash(tmp_path / "killed" / folder) == content_hash(tmp_path / "undisturbed" / folder), folder


@pytest.mark.slow
def test_three_stages_of_fine_tuning_killed_in_each_end_in_the_same_bytes(tmp_path, collection_folder, tiny_model_folder):
    write_cross_encoder(tiny_model_folder, tmp_path / "teacher")
    stages = json.dumps(["bm25", "dense", {"negatives": "dense", "teacher": str(tmp_path / "teacher")}])
    changes = ["lexicon=null", "dense.pretrain=null", "pairs.count=12", f"dense.finetune.stages={stages}"]
    changes += ["dense.finetune.hard=2", "dense.finetune.steps=2", "dense.finetune.save_every=1"]
    killed(small_recipe(collection_folder, tiny_model_folder, tmp_path / "killed", *changes), "finetune", tmp_path / "recipe.json")
    finetune_only(small_recipe(collection_folder, tiny_model_folder, tmp_path / "undisturbed", *changes))
    for folder in STAGED:
        assert content_hash(tmp_path / "killed" / folder) == content_hash(tmp_path / "undisturbed" / folder), folder
