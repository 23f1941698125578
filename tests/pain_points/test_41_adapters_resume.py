"""Pain 41: a run with low-rank adapters does not resume. Here it goes on from its checkpoint, and ends in the same bytes."""

from __future__ import annotations

import json

import pytest
from tests.finetuning.training_pieces import NEGATIVES, PAIRS, SPECS, TEXTS

from retrolex import training
from retrolex.backbones import load_backbone
from retrolex.finetuning.options import FinetuneOptions
from retrolex.finetuning.train import finetune

pytest.importorskip("peft", reason="low-rank adapters need peft")
OPTIONS = FinetuneOptions(steps=4, queries=4, hard=1, learning_rate=1e-2, lora=2, save_every=2, log_every=1, bf16=False)


def test_stopped_after_three_steps_of_four(tiny_model_folder, tmp_path, monkeypatch):
    def run(name: str) -> dict[str, float]:
        backbone, tokenizer = load_backbone(tiny_model_folder)
        return finetune(backbone, tokenizer, SPECS["dense"], PAIRS, NEGATIVES, TEXTS.__getitem__, tmp_path / name, OPTIONS)

    class Stop(training.Mark):
        def on_step_end(self, args, state, control, **rest):
            if state.global_step == 3:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(training, "Mark", Stop)
        run("stopped")
    assert [path.name for path in (tmp_path / "stopped" / "checkpoints").iterdir()] == ["checkpoint-2"]
    assert run("stopped") == run("whole")
    assert (tmp_path / "stopped" / "model.safetensors").read_bytes() == (tmp_path / "whole" / "model.safetensors").read_bytes()
    stopped, whole = ((tmp_path / name / "logs" / "train.jsonl").read_text(encoding="utf-8").splitlines() for name in ("stopped", "whole"))
    assert [json.loads(row)["contrastive"] for row in stopped] == [json.loads(row)["contrastive"] for row in whole]
