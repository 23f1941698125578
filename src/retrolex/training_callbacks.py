"""What watches a training run: the log, the progress bar, and the mark on whole checkpoints."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainingArguments

from retrolex.errors import UserError

MINUTE = 60.0  # seconds
WHOLE = "whole"  # the file that marks a checkpoint written to its end
TIMES = ("step", "seconds", "learning_rate", "grad_norm")  # what a log line says of the moment rather than of the model


class Reporter(TrainerCallback):
    """A callback with figures of its own for the trackers: the loop sets `report`, which takes them by name."""

    report: Callable[[dict[str, float]], None] = staticmethod(lambda figures: None)


class Mark(TrainerCallback):
    """Marks a checkpoint as whole once everything in it is written."""

    def on_save(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        if state.is_world_process_zero:
            (Path(args.output_dir) / f"checkpoint-{state.global_step}" / WHOLE).touch()


class Save(TrainerCallback):
    """Asks for a checkpoint every so many steps, or once a minute; never after the last step, when the model itself is saved.

    Several processes have to agree, and clocks do not: without a number of steps they save ten times in a run.
    """

    def __init__(self, every: int | None):
        self.every, self.last = every, time.monotonic()

    def on_step_end(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        every = self.every or (max(1, state.max_steps // 10) if args.world_size > 1 else None)
        due = state.global_step % every == 0 if every else time.monotonic() - self.last > MINUTE
        if due and state.global_step < state.max_steps:
            control.should_save, self.last = True, time.monotonic()


class LogFile(TrainerCallback):
    """One JSON object a line: step, loss and its parts, learning rate, gradient norm, seconds since the run (re)started."""

    def __init__(self, path: Path, label: str):
        self.path, self.label = path, label
        self.last: dict[str, float] = {}
        self.started = time.perf_counter()

    def on_train_begin(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        if not state.is_world_process_zero:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True) if self.path.exists() else []
        kept = [line for line in lines if line.endswith("\n") and json.loads(line)["step"] <= state.global_step]  # the rest is done anew
        self.path.write_text("".join(kept), encoding="utf-8")
        self.last = {name: value for name, value in json.loads(kept[-1]).items() if name not in TIMES} if kept else {}

    def on_log(self, args: TrainingArguments, state: Any, control: Any, logs: dict[str, float] | None = None, **rest: Any) -> None:
        if not logs or "loss" not in logs:
            return
        if not math.isfinite(logs["loss"]):
            raise UserError(
                f"{self.label}: the loss is {logs['loss']} at step {state.global_step}", mend="lower the learning rate, or train with bf16: false"
            )
        if state.is_world_process_zero:
            values = {name: round(value, 8) for name, value in logs.items() if name != "epoch"}
            self.last = {name: value for name, value in values.items() if name not in TIMES}
            row = {"step": state.global_step, **values, "seconds": round(time.perf_counter() - self.started, 2)}
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


class Bar(TrainerCallback):
    """A progress bar with the latest loss; one closing line where nobody watches."""

    def __init__(self, label: str):
        self.label = label
        self.bar: Any = None

    def on_train_begin(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        console = Console(stderr=True)
        if console.is_terminal and state.is_world_process_zero:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
            self.bar = Progress(*columns, console=console)
            self.task = self.bar.add_task(self.label, total=state.max_steps, completed=state.global_step)
            self.bar.start()

    def on_step_end(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        if self.bar:
            self.bar.update(self.task, completed=state.global_step)

    def on_log(self, args: TrainingArguments, state: Any, control: Any, logs: dict[str, float] | None = None, **rest: Any) -> None:
        if self.bar and logs and "loss" in logs:
            self.bar.update(self.task, description=f"{self.label}, loss {logs['loss']:.3f}")

    def on_train_end(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        if self.bar:
            self.bar.stop()
        elif state.is_world_process_zero:
            print(f"{self.label}: {state.global_step:,} steps", file=sys.stderr, flush=True)


class OwnRun(TrainerCallback):
    """A W&B run for each training: a process that trains several models would report all of them to the first one's run.

    Args:
        folder: gets W&B's files, below ``wandb``, unless `WANDB_DIR` names another.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def on_train_begin(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        """Begin the run, which the Trainer's own callback then finds."""
        import wandb

        self.folder.mkdir(parents=True, exist_ok=True)
        wandb.init(project=os.environ.get("WANDB_PROJECT", "retrolex"), dir=os.environ.get("WANDB_DIR", str(self.folder)))

    def on_train_end(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        """End it."""
        import wandb

        wandb.finish()
