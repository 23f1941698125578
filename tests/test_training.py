"""The shared loop: a killed run ends in the same weights, half-written checkpoints do no harm, a diverged run says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn
from transformers import TrainerCallback

from retrolex import training
from retrolex.errors import UserError
from retrolex.training import Schedule, clear_checkpoints, fit, latest_checkpoint
from retrolex.training_callbacks import Reporter
from retrolex.training_trackers import check_trackers

SCHEDULE = Schedule(steps=12, learning_rate=0.05, accumulate=2, log_every=2, save_every=4, bf16=False)


class Tied(nn.Module):
    """Dropout, tied matrices and two losses: what a masked LM has, in miniature."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.words, self.out, self.drop = nn.Embedding(10, 4), nn.Linear(4, 10, bias=False), nn.Dropout(0.5)
        self.out.weight = self.words.weight

    def forward(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        logits = self.out(self.drop(self.words(ids)))
        first, second = nn.functional.cross_entropy(logits, (ids + 1) % 10), logits.square().mean()
        return {"loss": first + second, "first": first, "second": second}


def batches(number: int) -> dict[str, torch.Tensor]:
    return {"ids": torch.randint(10, (5,), generator=torch.Generator().manual_seed(number))}


class Kill(TrainerCallback):
    def __init__(self, step: int):
        self.step = step

    def on_step_end(self, args, state, control, **rest) -> None:
        if state.global_step == self.step:
            raise KeyboardInterrupt


def trained(folder: Path) -> tuple[torch.Tensor, dict[str, float]]:
    model = Tied()
    result = fit(model, batches, SCHEDULE, folder, "test")
    return model.words.weight.detach(), result


@pytest.mark.parametrize("step", [2, 5, 9])
def test_a_killed_run_ends_in_the_same_weights(tmp_path: Path, step: int) -> None:
    whole, result = trained(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        fit(Tied(), batches, SCHEDULE, tmp_path / "killed", "test", callbacks=[Kill(step)])
    resumed, _ = trained(tmp_path / "killed")
    assert torch.equal(whole, resumed)
    assert result["loss"] == pytest.approx(result["first"] + result["second"], abs=1e-6)
    rows = [json.loads(line) for line in (tmp_path / "killed/logs/train.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 4, 6, 8, 10, 12]


def test_a_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    first, result = trained(tmp_path)
    again, same = trained(tmp_path)
    assert torch.equal(first, again) and result == same
    clear_checkpoints(tmp_path)
    assert latest_checkpoint(tmp_path) is None


def test_a_half_written_checkpoint_is_passed_over(tmp_path: Path) -> None:
    whole, _ = trained(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        fit(Tied(), batches, SCHEDULE, tmp_path / "killed", "test", callbacks=[Kill(9)])
    half = tmp_path / "killed/checkpoints/checkpoint-9"
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    assert torch.equal(whole, trained(tmp_path / "killed")[0]) and not half.exists()


def test_batches_come_in_order_and_once(tmp_path: Path) -> None:
    seen: list[int] = []

    def watched(number: int) -> dict[str, torch.Tensor]:
        seen.append(number)
        return batches(number)

    fit(Tied(), watched, SCHEDULE, tmp_path, "test")
    assert seen == list(range(24))


def test_a_diverged_run_says_how_to_mend_it(tmp_path: Path) -> None:
    class Broken(Tied):
        def forward(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"loss": super().forward(ids)["loss"] * float("nan")}

    with pytest.raises(UserError, match="lower the learning rate"):
        fit(Broken(), batches, SCHEDULE, tmp_path, "test")


def test_a_checkpoint_holds_no_pickle(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit(Tied(), batches, SCHEDULE, tmp_path, "test", callbacks=[Kill(9)])
    whole = latest_checkpoint(tmp_path)
    assert {path.suffix for path in whole.iterdir()} == {".safetensors", ".json", ""}
    assert {"model.safetensors", "optimizer.safetensors", "random-0.safetensors"} <= {path.name for path in whole.iterdir()}


class Counts(Reporter):
    """Reports the step at every second step, in which a line of the log is due as well."""

    def on_step_end(self, args, state, control, **rest) -> None:
        if state.global_step % 2 == 0:
            self.report({"eval_count": float(state.global_step)})


class Heard(TrainerCallback):
    """A tracker that remembers."""

    def __init__(self):
        self.logs: list[dict[str, float]] = []

    def on_log(self, args, state, control, logs=None, **rest) -> None:
        self.logs.append({"step": state.global_step, **logs})


def test_trackers_hear_losses_their_parts_and_reported_figures(tmp_path: Path, monkeypatch) -> None:
    heard = Heard()
    monkeypatch.setattr(training, "trackers", lambda names, folder, step: [heard])
    fit(Tied(), batches, replace(SCHEDULE, report_to=("wandb",)), tmp_path, "test", callbacks=[Counts()])
    losses = [row for row in heard.logs if "loss" in row]
    assert [row["step"] for row in losses] == [1, 2, 4, 6, 8, 10, 12]
    assert all({"first", "second", "learning_rate"} <= set(row) for row in losses)
    assert [row["eval_count"] for row in heard.logs if "eval_count" in row] == [2, 4, 6, 8, 10, 12]
    assert len((tmp_path / "logs/train.jsonl").read_text().splitlines()) == 7


def test_tensorboard_gets_curves(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard comes with the extra [track]")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    fit(Tied(), batches, replace(SCHEDULE, report_to=("tensorboard",)), tmp_path, "test", callbacks=[Counts()])
    events = EventAccumulator(str(tmp_path / "logs/tensorboard")).Reload()
    assert {"train/loss", "train/first", "train/second", "eval/count"} <= set(events.Tags()["scalars"])
    assert [event.step for event in events.Scalars("eval/count")] == [2, 4, 6, 8, 10, 12]


@pytest.mark.parametrize(("name", "words"), [("tensorbored", "choose among tensorboard, wandb"), ("wandb", "pip install wandb")])
def test_a_tracker_that_is_not_there(name: str, words: str, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    with pytest.raises(UserError, match=words):
        check_trackers([name])


def test_every_training_is_a_wandb_run_of_its_own(tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("wandb", reason="needs Weights & Biases: pip install 'retrolex[track]'")
    monkeypatch.setenv("WANDB_MODE", "offline")
    for name in ("one", "two"):
        fit(Tied(), batches, replace(SCHEDULE, report_to=("wandb",)), tmp_path / name, "test", callbacks=[Counts()])
        (run,) = (tmp_path / name / "logs" / "wandb").glob("offline-run-*")
        (file,) = run.glob("*.wandb")
        assert b"eval/count" in (told := file.read_bytes()) and b"train/first" in told
