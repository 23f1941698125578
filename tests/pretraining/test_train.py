"""A run writes a model folder, continues after a kill to the same bytes, and is the same run on two processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import TrainerCallback

from retrolex.backbones import Spec, load_backbone, read_spec
from retrolex.errors import UserError
from retrolex.pretraining import PretrainConfig, known_items, pretrain, train
from retrolex.tokens import tokenize

CONFIG = PretrainConfig(steps=6, tokens_per_batch=400, learning_rate=3e-3, log_every=1, save_every=2, bf16=False)
SPEC = Spec(document_length=42, query_length=16)


def weights(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def run(start, tokens, tmp_path):
    """A function that pre-trains the tiny model into a folder of the given name."""

    def go(name, config=CONFIG, **options):
        backbone, tokenizer = start()
        return pretrain(backbone, tokenizer, tokens, tmp_path / name, config, spec=SPEC, **options), tmp_path / name

    return go


@pytest.mark.parametrize("objective", ["retromae", "dupmae", "lexmae", "mlm"])
def test_a_run_writes_a_model_folder(objective, run):
    result, folder = run("model", replace(CONFIG, objective=objective))
    assert result["steps"] == 6 and result["loss"] > 0
    backbone, _ = load_backbone(folder)
    assert not backbone.head_is_new
    assert read_spec(folder).objective == objective
    assert (folder / "decoder.safetensors").exists() == (objective != "mlm")
    rows = lines(folder / "logs" / "train.jsonl")
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6] and "encoder" in rows[0]
    assert rows[-1]["loss"] < rows[0]["loss"]
    forbidden = {".pt", ".pth", ".bin", ".pkl", ".ckpt"}
    assert not [path for path in folder.rglob("*") if path.suffix in forbidden or path.name.startswith("checkpoint")]


class Kill(TrainerCallback):
    def on_step_end(self, args, state, control, **rest):
        if state.global_step == 5:
            raise KeyboardInterrupt


def test_a_killed_run_ends_in_the_same_bytes(run, documents, monkeypatch):
    config = replace(CONFIG, objective="lexmae", dropout=0.1, probe_every=3, options={"keep_start": 0.5}, bf16=None)  # as users run it
    held_out = known_items(documents * 2, count=10)
    held_out = replace(held_out, rows=tuple(row % len(documents) for row in held_out.rows))
    whole, folder = run("whole", config, held_out=held_out)
    fit = train.fit
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(train, "fit", lambda *args: fit(*args[:-2], [*args[-2], Kill()], args[-1]))
        run("killed", config, held_out=held_out)
    resumed, other = run("killed", config, held_out=held_out)
    assert weights(folder) == weights(other) and len(weights(folder)) == 2
    assert whole == resumed
    assert lines(folder / "logs" / "probe.jsonl") == lines(other / "logs" / "probe.jsonl")
    assert [row["step"] for row in lines(folder / "logs" / "probe.jsonl")] == [0, 3, 6]


def test_a_run_stops_when_the_probe_gains_no_more(run, documents):
    held_out = replace(known_items(documents * 2, count=10), rows=tuple(range(10)))
    config = replace(CONFIG, learning_rate=0.0, probe_every=1, patience=2)
    result, _ = run("model", config, held_out=held_out)
    assert result["stopped_early"] and result["steps"] == 2
    assert result["chunks_held_out"] >= 10 and result["probe"]["bm25"]["RR@10"] >= 0


def test_a_decoder_can_go_on(run):
    _, folder = run("first")
    result, _ = run("second", decoder=folder / "decoder.safetensors")
    assert result["loss"] > 0
    with pytest.raises(UserError, match="another objective"):
        run("third", replace(CONFIG, objective="lexmae"), decoder=folder / "decoder.safetensors")


def test_other_tokens_are_refused(start, tokens, tmp_path):
    backbone, tokenizer = start()
    tokenizer.add_tokens(["onemore"])
    with pytest.raises(UserError, match="another tokenizer"):
        pretrain(backbone, tokenizer, tokens, tmp_path, CONFIG, spec=SPEC)


@pytest.mark.parametrize("objective", ["retromae", "dupmae", "lexmae", "mlm"])
def test_accumulated_batches_are_one_large_batch(objective, run):
    config = replace(CONFIG, objective=objective)
    _, large = run("large", replace(config, tokens_per_batch=900))
    _, small = run("small", replace(config, tokens_per_batch=300, accumulate=3))
    rows = [lines(folder / "logs" / "train.jsonl") for folder in (large, small)]
    for row, other in zip(*rows, strict=True):
        for term in {"loss", "encoder", "decoder", "bow"} & set(row):
            assert row[term] == pytest.approx(other[term], abs=1e-4)
    left, right = (load_backbone(folder)[0].state_dict() for folder in (large, small))
    assert all(torch.allclose(left[name], right[name], atol=1e-4) for name in left)


WORKER = """
import sys
from pathlib import Path
from retrolex.backbones import Spec, load_backbone
from retrolex.pretraining import PretrainConfig, pretrain
from retrolex.tokens import Tokens
import torch
torch.set_num_threads(1)
model, tokens, folder = sys.argv[1:]
backbone, tokenizer = load_backbone(model)
config = PretrainConfig(objective="dupmae", steps=4, tokens_per_batch=300, learning_rate=3e-3, log_every=1, bf16=False)
pretrain(backbone, tokenizer, Tokens.open(Path(tokens)), Path(folder), config, spec=Spec(document_length=42))
"""


def test_two_processes_are_one_with_twice_the_batch(run, start, documents, tmp_path):
    backbone, tokenizer = start()
    backbone.model.save_pretrained(tmp_path / "start")
    tokenizer.save_pretrained(tmp_path / "start")
    tokenize((document.full for document in documents), tokenizer, tmp_path / "tokens")
    script = tmp_path / "worker.py"
    script.write_text(WORKER, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    arguments = [script, tmp_path / "start", tmp_path / "tokens", tmp_path / "two"]
    done = subprocess.run([*launch, *map(str, arguments)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run("one", replace(CONFIG, objective="dupmae", steps=4, tokens_per_batch=600))
    one, two = (lines(tmp_path / name / "logs" / "train.jsonl") for name in ("one", "two"))
    for row, other in zip(one, two, strict=True):
        for term in ("loss", "encoder", "decoder", "bow"):
            assert row[term] == pytest.approx(other[term], abs=1e-4)
    left, right = (load_backbone(tmp_path / name)[0].state_dict() for name in ("one", "two"))
    assert all(torch.allclose(left[name], right[name], atol=1e-4) for name in left)
