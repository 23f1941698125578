"""Fine-tuning in stages: a folder each, skipped when up to date, mined by the stage before, taught by a cross-encoder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.pipeline.small import small_recipe, write_cross_encoder

from retrolex.artifacts import content_hash, read_manifest
from retrolex.backbones import read_spec
from retrolex.collection import Collection
from retrolex.errors import UserError
from retrolex.finetuning.negatives import read_negatives
from retrolex.finetuning.pairs import read_pairs
from retrolex.finetuning.teach import TeachOptions
from retrolex.finetuning.teachers import Teacher
from retrolex.pipeline import finetuning
from retrolex.pipeline.checks import check
from retrolex.pipeline.command import finetune_command
from retrolex.pipeline.finetune_only import finetune_only
from retrolex.pipeline.run import run
from retrolex.pipeline.teaching import teach_run
from retrolex.search.searcher import Searcher

QUICK = ["dense.pretrain=null", "lexicon.pretrain=null", "dense.finetune.hard=2", "dense.finetune.steps=2", "pairs.count=12"]


def lines(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("[")]


def test_three_stages_from_labels_to_a_teacher(tmp_path: Path, collection_folder: Path, tiny_model_folder: Path, capfd) -> None:
    place = collection_folder, tiny_model_folder, tmp_path / "run"
    first = small_recipe(*place, *QUICK, "lexicon=null", "dense.finetune.stages=[bm25]")
    assert finetune_only(first) == {"dense": tmp_path / "run/dense/finetune-1"}
    options = TeachOptions(steps=2, queries=2, hard=2, length=40, bf16=False)
    teacher = teach_run(tmp_path / "run", str(tiny_model_folder), tmp_path / "run/teacher", options)

    stages = json.dumps(["bm25", "dense", {"negatives": "dense", "teacher": str(teacher)}])
    lexicon = ["lexicon.finetune.hard=2", "lexicon.finetune.steps=2", "lexicon.finetune.stages=[{negatives: [lexicon, dense]}]"]
    recipe = small_recipe(*place, *QUICK, f"dense.finetune.stages={stages}", *lexicon)
    capfd.readouterr()
    assert finetune_only(recipe) == {"dense": tmp_path / "run/dense/finetune-3", "lexicon": tmp_path / "run/lexicon/finetune-1"}
    said = lines(capfd.readouterr().err)
    assert any("[dense/finetune-1] up to date" in line for line in said)
    folder = tmp_path / "run/dense"
    for number, miner in enumerate(["bm25", "dense", "dense"], 1):
        found = read_negatives(folder / f"negatives-{number}/negatives.jsonl")
        assert {negative.miner for row in found for negative in row} <= {miner, "random"}
        assert {path.name for path in (folder / f"negatives-{number}").iterdir()} == {"negatives.jsonl", "manifest.json"}
    both = read_negatives(tmp_path / "run/lexicon/negatives-1/negatives.jsonl")
    assert {"lexicon", "dense"} <= {negative.miner for row in both for negative in row}
    kept = [len(read_negatives(folder / f"negatives-{number}/negatives.jsonl")[0]) for number in (1, 2, 3)]
    assert kept == [8, 8, 2]  # four times as many as are used at a time; beside a teacher no more than are used
    scores = np.load(folder / "teacher-3/scores.npy")
    assert scores.shape == (12, 3) and scores.dtype == np.float32
    assert list((tmp_path / "run/teachers").glob("*/scores-00000.arrow"))
    assert read_spec(folder / "finetune-3").objective == "distill"
    for number in (1, 2, 3):  # each starts again from the checkpoint, and not from the stage before
        inputs = read_manifest(folder / f"finetune-{number}")["inputs"]
        assert Path(inputs["start"]["path"]).name.startswith("start-")
        assert Path(inputs["negatives"]["path"]).name == f"negatives-{number}"
    mined = read_manifest(folder / "negatives-3")["inputs"]["dense model"]["path"]
    assert mined == "finetune-2" and not (folder / "vectors").exists()

    assert finetune_only(recipe)
    again = lines(capfd.readouterr().err)
    assert all("up to date, skipped" in line for line in again)
    outcome = run(recipe)
    trained = [line for line in lines(capfd.readouterr().err) if "finetune" in line or "negatives" in line or "teacher" in line]
    assert trained and all("up to date, skipped" in line for line in trained)
    assert "adapted dense" in [row.name for row in outcome.results.rows]


def test_an_interrupted_stage_goes_on_and_ends_in_the_same_bytes(tmp_path, collection_folder, tiny_model_folder, monkeypatch) -> None:
    def recipe(name: str):
        return small_recipe(collection_folder, tiny_model_folder, tmp_path / name, *QUICK, "lexicon=null", "dense.finetune.stages=[bm25, dense]")

    finetune_only(recipe("whole"))
    mine, calls = finetuning.mine_pools, []

    def dying(*arguments, **rest):
        calls.append(arguments)
        if len(calls) == 2:
            raise RuntimeError("killed")
        return mine(*arguments, **rest)

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="killed"):
        patch.setattr(finetuning, "mine_pools", dying)
        finetune_only(recipe("killed"))
    assert list((tmp_path / "killed/dense/negatives-2.partial/dense-search/vectors").glob("*.npy"))
    finetune_only(recipe("killed"))
    for name in ("negatives-1", "finetune-1", "negatives-2", "finetune-2"):
        assert content_hash(tmp_path / "killed/dense" / name) == content_hash(tmp_path / "whole/dense" / name)


def test_two_part_vectors_from_text_to_answers(tmp_path: Path, collection_folder: Path, tiny_model_folder: Path) -> None:
    model = {
        "init": str(tiny_model_folder),
        "guard": True,
        "pretrain": {"objective": "dupmae", "steps": 2, "tokens_per_batch": 512, "probe_every": 2},
        "finetune": {"steps": 2, "hard": 2, "queries": 4, "stages": ["bm25", "dupmae"]},
    }
    recipe = small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", f"dupmae={json.dumps(model)}", "dense=null", "lexicon=null")
    outcome = run(recipe)
    assert [row.name for row in outcome.results.rows] == ["BM25", "adapted dupmae", "hybrid"]
    assert (tmp_path / "run/dupmae/model/two_part.safetensors").exists()
    answers = Searcher.open(tmp_path / "run").search("the wing carries the load", k=3, system="dupmae")
    assert len(answers) == 3 and answers[0].score >= answers[1].score

    start = {"init": str(tmp_path / "run/dupmae/finetune-2"), "guard": False}  # and from there to another run, untrained
    other = small_recipe(collection_folder, tiny_model_folder, tmp_path / "other", f"dupmae={json.dumps(start)}", "dense=null", "lexicon=null")
    assert [row.name for row in run(other).results.rows] == ["BM25", "start dupmae", "hybrid"]
    with pytest.raises(UserError, match="need a projection"):
        check(small_recipe(collection_folder, tiny_model_folder, tmp_path / "third", f"dupmae.init={tiny_model_folder}", "dense=null"))


@pytest.mark.parametrize(
    ("stages", "words"),
    [
        ("[bm25, bm25, bm25, bm25]", "4 stages"),
        ("[{loss: distill}]", "teacher"),
        ("[{teacher: x, loss: contrastive}]", "teacher"),
        ("[{teacher_margin: 1}]", "teacher_margin 1"),
        ("[{teacher: x, teacher_margin: -1}]", "a margin below 0"),
        ("[{per_query: 1}]", "1 negatives a query"),
        ("[{negatives: [bm25, bm25]}]", "each once"),
        ("[{first: 9, depth: 3}]", "ranks 9 to 3"),
        ("[{absolute_margin: -1}]", "a margin below 0"),
        ("[{learning_rate: 0}]", "learning_rate"),
    ],
)
def test_stages_that_cannot_be_carried_out_are_refused(tmp_path, collection_folder, tiny_model_folder, stages, words) -> None:
    with pytest.raises(UserError, match=words):
        check(small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", f"dense.finetune.stages={stages}"))


def test_a_margin_takes_away_what_scores_too_close_to_the_positive(tmp_path, collection_folder, tiny_model_folder) -> None:
    recipe = small_recipe(
        collection_folder, tiny_model_folder, tmp_path / "run", *QUICK, "lexicon=null",
        "dense.finetune.stages=[{negatives: bm25, absolute_margin: 0.5, relative_margin: 0.1}]",
    )  # fmt: skip
    finetune_only(recipe)
    found = read_manifest(tmp_path / "run/dense/negatives-1")
    assert (found["config"]["absolute_margin"], found["config"]["relative_margin"]) == (0.5, 0.1)
    assert found["counts"]["bm25: too close to the positive"] > 0


def test_a_teacher_takes_false_negatives_away_and_teaches_only_where_the_loss_says_so(tmp_path, collection_folder, tiny_model_folder) -> None:
    teacher = write_cross_encoder(tiny_model_folder, tmp_path / "teacher")
    stages = [{"teacher": str(teacher), "teacher_margin": 0.0, "loss": "contrastive"}, {"negatives": "bm25", "teacher": str(teacher)}]
    place = collection_folder, tiny_model_folder, tmp_path / "run"
    finetune_only(small_recipe(*place, *QUICK, "lexicon=null", f"dense.finetune.stages={json.dumps(stages)}"))
    folder = tmp_path / "run/dense"
    assert not (folder / "teacher-1").exists() and (folder / "teacher-2/scores.npy").exists()
    assert [read_spec(folder / f"finetune-{number}").objective for number in (1, 2)] == ["contrastive", "distill"]
    counts = read_manifest(folder / "negatives-1")["counts"]
    assert 0 < counts["false negatives"] < counts["candidates"] and counts["candidates: mined"] > 0
    pairs, found = read_pairs(tmp_path / "run/pairs/train.jsonl"), read_negatives(folder / "negatives-1/negatives.jsonl")
    assert {len(row) for row in found} == {8}
    texts = Collection.open(tmp_path / "run/collection")
    scores = Teacher(teacher, tmp_path / "run/teachers").scores(pairs, found, lambda id: texts[texts.position(id)].full)
    judged = [
        [score for score, negative in zip(row[1:], one, strict=True) if negative.miner == "bm25"] for row, one in zip(scores, found, strict=True)
    ]
    assert any(judged) and all(score <= row[0] for row, one in zip(scores, judged, strict=True) for score in one)


def test_a_miner_that_is_trained_later_is_refused(tmp_path, collection_folder, tiny_model_folder) -> None:
    recipe = small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", *QUICK, "dense.finetune.stages=[lexicon]")
    with pytest.raises(UserError, match="no model 'lexicon' to mine with"):
        finetune_only(recipe)


WORKER = """
import json
import sys
import torch
from retrolex.pipeline.finetune_only import finetune_only
from retrolex.pipeline.recipe import make_recipe
torch.set_num_threads(1)
finetune_only(make_recipe(json.loads(open(sys.argv[1], encoding="utf-8").read())))
"""


@pytest.mark.slow
def test_two_processes_share_the_stages(tmp_path: Path, collection_folder: Path, tiny_model_folder: Path) -> None:
    recipe = small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", *QUICK, "lexicon=null", "dense.finetune.stages=[bm25, dense]")
    (tmp_path / "recipe.json").write_text(json.dumps(recipe.plain()), encoding="utf-8")
    (tmp_path / "worker.py").write_text(WORKER, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run([*launch, str(tmp_path / "worker.py"), str(tmp_path / "recipe.json")], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-9000:]
    for name in ("negatives-1", "finetune-1", "negatives-2", "finetune-2"):
        assert read_manifest(tmp_path / "run/dense" / name)
    assert not list((tmp_path / "run").rglob("*.partial"))


def test_the_command_line_names_the_folders_and_takes_a_rank(tmp_path, collection_folder, tiny_model_folder, capsys) -> None:
    pytest.importorskip("peft", reason="low-rank adapters need peft")
    recipe = small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", *QUICK, "lexicon=null")
    (tmp_path / "recipe.json").write_text(json.dumps(recipe.plain()), encoding="utf-8")
    finetune_command(tmp_path / "recipe.json", None, None, 2, [])
    assert f"dense: {tmp_path / 'run/dense/finetune'}" in capsys.readouterr().out
    assert read_manifest(tmp_path / "run/dense/finetune")["config"]["lora"] == 2
    with pytest.raises(UserError, match="something else than a teacher"):
        teach_run(tmp_path / "run", str(tiny_model_folder), tmp_path / "run/pairs", TeachOptions())
    with pytest.raises(UserError, match="no training pairs here"):
        teach_run(tmp_path, str(tiny_model_folder), tmp_path / "teacher", TeachOptions())
    with pytest.raises(UserError, match="nothing to finetune"):
        finetune_command(None, None, None, None, [])


def test_nothing_to_fine_tune(tmp_path, collection_folder, tiny_model_folder) -> None:
    with pytest.raises(UserError, match="nothing in this recipe is fine-tuned"):
        finetune_only(small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", "dense.finetune=null", "lexicon=null"))
