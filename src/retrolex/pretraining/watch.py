"""Watching a run: held-out losses and the retrieval probe every so many steps, when to stop, and what looks wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import TrainingArguments

from retrolex.progress import say
from retrolex.training_callbacks import Reporter

ALIKE, DENSE, TOO_GOOD, RISEN = 0.995, 0.2, 0.02, 1.25
GAIN = 0.002  # a smaller rise of RR@10 does not count as one


class Watch(Reporter):
    """Measures at step 0 and every `every` steps, appends to ``logs/probe.jsonl``, and stops a run that no longer gains.

    Args:
        path: the log.
        measure: returns held-out losses and probe figures of the model as it is.
        every: steps between two measurements.
        watched: the representation whose RR@10 decides, ``dense`` or ``lexicon``.
        patience: measurements without a gain before the run stops; None never stops it.
    """

    def __init__(self, path: Path, measure: Callable[[], dict[str, Any]], every: int, watched: str, patience: int | None):
        self.path, self.measure, self.every, self.watched, self.patience = path, measure, every, watched, patience
        self.rows: list[dict[str, Any]] = []
        self.stopped = False

    def on_train_begin(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True) if self.path.exists() else []
        rows = [json.loads(line) for line in lines if line.endswith("\n")]
        self.rows = [row for row in rows if row["step"] <= state.global_step]  # what came after the checkpoint is done anew
        if state.is_world_process_zero:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")
        if not self.rows:
            self.look(state)

    def on_step_end(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        if state.global_step % self.every == 0 or state.global_step == state.max_steps:
            self.look(state)
            if self.patience is not None and self.since_best() >= self.patience and state.global_step < state.max_steps:
                control.should_training_stop, self.stopped = True, True
                if state.is_world_process_zero:
                    say(f"stopped at step {state.global_step}: {self.patience} probes without a gain (best RR@10 {self.best():.3f})")

    def look(self, state: Any) -> None:
        """Measure, log, warn."""
        row = {"step": state.global_step, **self.measure()}
        self.rows.append(row)
        self.report(flat(row))
        if state.is_world_process_zero:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            say(describe(row))
            for warning in warnings(row, self.watched, self.rows[0]):
                say(f"warning: {warning}")

    def best(self) -> float:
        """The best RR@10 so far."""
        return max(row[self.watched]["RR@10"] for row in self.rows)

    def since_best(self) -> int:
        """Measurements since the last that was better, by GAIN, than all before it."""
        values = [row[self.watched]["RR@10"] for row in self.rows]
        last, best = 0, values[0]
        for index, value in enumerate(values):
            if value > best + GAIN:
                last, best = index, value
        return len(values) - 1 - last


def describe(row: dict[str, Any]) -> str:
    """One line for the person watching."""
    losses = " ".join(f"{name} {value:.3f}" for name, value in row["held_out"].items())
    ranks = " ".join(f"{name} {row[name]['RR@10']:.3f}" for name in ("dense", "lexicon", "bm25"))
    return f"step {row['step']}: held-out {losses}; known-item RR@10 {ranks}"


def flat(row: dict[str, Any]) -> dict[str, float]:
    """A measurement's figures by the names that trackers show: ``eval_loss``, ``eval_dense_RR@10`` and so on."""
    figures = {f"eval_{name}": value for name, value in row["held_out"].items()}
    figures |= {f"eval_{name}_{measure}": value for name in ("dense", "lexicon", "bm25") for measure, value in row[name].items()}
    return figures | {"eval_dense_cosine": row["cosine"], "eval_lexicon_density": row["density"]}


def warnings(row: dict[str, Any], watched: str, first: dict[str, Any]) -> list[str]:
    """What a measurement, held against the first one, says of a dead or exploding run, and what to do about it."""
    found = []
    if row["held_out"]["loss"] > RISEN * first["held_out"]["loss"]:
        found.append(f"the held-out loss has risen from {first['held_out']['loss']} to {row['held_out']['loss']}: lower the learning rate")
    if any(value != value for value in row["held_out"].values()):
        found.append("a held-out loss is not a number: lower the learning rate, or train with bf16 off")
    if any(value < TOO_GOOD for value in row["held_out"].values()):
        found.append("a held-out loss is lower than text allows: the decoder sees what it should predict, or the collection repeats itself")
    if watched == "dense" and row["step"] > 0 and row["cosine"] > ALIKE:  # a random start's vectors are alike, and that is no fault
        found.append(f"all vectors are nearly the same (mean cosine {row['cosine']}): lower the learning rate")
    if watched == "lexicon" and row["density"] == 0.0:
        found.append("all lexicon vectors are empty: lower the learning rate, or start from a checkpoint with an LM head")
    if watched == "lexicon" and row["density"] > DENSE:
        found.append(f"lexicon vectors use {row['density']:.0%} of the vocabulary: they become sparse in fine-tuning, with FLOPS regularisation")
    return found
