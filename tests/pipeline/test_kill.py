"""kill -9 in every stage, the same command again: the indexes and runs end in the same bytes as an undisturbed run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.pipeline.small import small_recipe

from retrolex.artifacts import content_hash
from retrolex.pipeline.run import run

COMPARED = ["collection", "pairs", "search", "hybrid"]  # the table in `evaluate` states milliseconds, which no two runs share
COMPARED += [f"dense/{part}" for part in ("pretrain", "finetune", "model", "start-vectors", "start-index")]
COMPARED += [f"lexicon/{part}" for part in ("pretrain", "finetune", "vectors", "index")]


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_a_run_killed_in_every_stage_ends_in_the_same_bytes(tmp_path, collection_folder, tiny_model_folder):
    recipe = small_recipe(collection_folder, tiny_model_folder, tmp_path / "killed")
    (tmp_path / "recipe.json").write_text(json.dumps(recipe.plain()), encoding="utf-8")
    driver = Path(__file__).with_name("kill_driver.py")
    done = subprocess.run([sys.executable, str(driver), str(tmp_path / "recipe.json")], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    run(small_recipe(collection_folder, tiny_model_folder, tmp_path / "undisturbed"))
    for folder in COMPARED:
        assert content_hash(tmp_path / "killed" / folder) == content_hash(tmp_path / "undisturbed" / folder), folder
