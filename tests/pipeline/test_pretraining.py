"""`retrolex pretrain`: from text and any start to a model folder, by the folders of a run, on one process or two."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from retrolex.artifacts import read_manifest
from retrolex.errors import UserError
from retrolex.pipeline.pretraining import pretrain_only, pretraining_recipe

TRAINING = {"objective": "retromae", "steps": 4, "tokens_per_batch": 512, "learning_rate": 1e-3, "probe_every": 2, "log_every": 1}
SCRATCH = {"vocabulary": 300, "layers": 1, "hidden_size": 32}


def recipe(source: Path, output: Path, init: str = "scratch", scratch=SCRATCH, overrides=(), **training):
    return pretraining_recipe(str(source), str(output), init, TRAINING | training, 48, scratch, ["pairs.count=20", *overrides])


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("objective", "section"), [("retromae", "dense"), ("lexmae", "lexicon"), ("dupmae", "dense"), ("mlm", "dense")])
def test_from_scratch_to_a_model_that_transformers_loads(objective, section, collection_folder, tmp_path):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    folder = pretrain_only(recipe(collection_folder, tmp_path / "run", objective=objective))
    assert folder == tmp_path / "run" / section / "pretrain"
    model, tokenizer = AutoModelForMaskedLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    assert model.config.vocab_size == len(tokenizer) <= 300 and model.config.hidden_size == 32
    assert [row["step"] for row in lines(folder / "logs" / "train.jsonl")] == [1, 2, 3, 4]


def test_a_scratch_start_begins_at_the_unigram_cross_entropy(collection_folder, tmp_path):
    import numpy as np

    from retrolex.tokens import Tokens

    folder = pretrain_only(recipe(collection_folder, tmp_path / "run", learning_rate=1e-9))
    (tokens,) = (tmp_path / "run").glob("tokens-*")
    shares = Tokens.open(tokens).unigrams() / Tokens.open(tokens).total
    entropy = -(shares[shares > 0] * np.log(shares[shares > 0])).sum()
    assert all(abs(row["encoder"] - entropy) < 0.5 for row in lines(folder / "logs" / "train.jsonl"))


def test_the_same_command_again_does_nothing_and_a_tracker_changes_nothing(collection_folder, tmp_path, tiny_model_folder, monkeypatch):
    stated = {"init": str(tiny_model_folder), "scratch": {}}
    folder = pretrain_only(recipe(collection_folder, tmp_path / "run", **stated))
    before = read_manifest(folder)
    monkeypatch.setattr("retrolex.pipeline.checks.check_trackers", lambda names: None)
    assert pretrain_only(recipe(collection_folder, tmp_path / "run", **stated, report_to=["tensorboard"])) == folder
    assert read_manifest(folder) == before
    pretrain_only(recipe(collection_folder, tmp_path / "run", **stated, steps=5))
    assert read_manifest(folder) != before


@pytest.mark.slow
def test_two_processes_train_as_one_with_twice_the_batch(collection_folder, tmp_path):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    verb = ["-m", "retrolex", "pretrain", str(collection_folder), "--init", "scratch", "--train-tokenizer", "300", "--layers", "1"]
    verb += ["--hidden-size", "32", "--length", "48", "--steps", "4", "--set", "dense.pretrain.log_every=1", "--set", "dense.pretrain.bf16=false"]
    launch = {"one": ["-m"], "two": ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]}
    for name, budget in (("one", 600), ("two", 300)):
        command = [sys.executable, *launch[name], *verb[1:], "--tokens-per-batch", str(budget), "--output", str(tmp_path / name)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr[-3000:]
        assert done.stdout.count("Model:") == 1
    one, two = (lines(tmp_path / name / "dense" / "pretrain" / "logs" / "train.jsonl") for name in ("one", "two"))
    for row, other in zip(one, two, strict=True):
        assert row["loss"] == pytest.approx(other["loss"], abs=1e-4)


def test_a_run_from_scratch_goes_to_its_end(collection_folder, tmp_path):
    from retrolex.pipeline.recipe import make_recipe
    from retrolex.pipeline.run import run

    stated = {
        "collection": {"source": str(collection_folder)},
        "output": str(tmp_path / "run"),
        "scratch": SCRATCH,
        "dense": {"init": "scratch", "document_length": 48, "pretrain": {"steps": 3, "tokens_per_batch": 512}, "finetune": None, "guard": False},
        "lexicon": None,
    }
    outcome = run(make_recipe(stated))
    assert outcome.report.exists() and (tmp_path / "run" / "scratch" / "tokenizer.json").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"objective": "bert"}, "no objective 'bert'"),
        ({"init": "minilm"}, "sizes of its own"),
        ({"scratch": {"hidden_size": 100}}, "multiple of 32"),
        ({"scratch": {"vocabulary": 10}}, "greater than or equal to 100"),
        ({"report_to": ["tensorbored"]}, "choose among tensorboard, wandb"),
    ],
)
def test_mistakes(change, words, collection_folder, tmp_path):
    with pytest.raises(UserError, match=words):
        pretrain_only(recipe(collection_folder, tmp_path / "run", **change))
    assert not (tmp_path / "run").exists()
