"""The live view of a pre-training run: step, losses, held-out losses, probe beside BM25, speed and time left.

In a terminal it is a small table that stays in place; elsewhere a line now and then.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from transformers import TrainerCallback, TrainingArguments

from retrolex.progress import say

PERIOD = 30.0  # seconds between two lines where there is no terminal
WINDOW = 50  # steps that the speed is the mean of
HELD_OUT = "eval_"  # what the trackers' names of held-out figures begin with
MOMENT = ("learning_rate", "grad_norm", "epoch")  # what a log says beside losses


class Live(TrainerCallback):
    """Shows a run as it goes.

    Args:
        label: what is being done.
        tokens: how many tokens the batch of a step has, steps counted from 0.
        console: where to; standard error when not given.
    """

    def __init__(self, label: str, tokens: Callable[[int], int], console: Any = None):
        from rich.console import Console

        self.label, self.tokens, self.console = label, tokens, console or Console(stderr=True)
        self.losses: dict[str, float] = {}
        self.held_out: dict[str, float] = {}
        self.first: dict[str, float] = {}
        self.recent: deque[tuple[int, float]] = deque(maxlen=WINDOW)
        self.step = self.last_step = self.begun_at = 0
        self.display: Any = None

    # What happens.

    def on_train_begin(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        self.started = self.clock = time.monotonic()
        self.said = float("-inf")
        self.step = self.begun_at = state.global_step
        self.last_step = state.max_steps
        self.shown = state.is_world_process_zero
        if self.shown and self.console.is_terminal:
            from rich.live import Live as Display

            self.display = Display(get_renderable=self.table, console=self.console, refresh_per_second=2)
            self.display.start()

    def on_step_end(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        now = time.monotonic()
        self.recent.append((self.tokens(self.step), now - self.clock))
        self.clock, self.step = now, state.global_step

    def on_log(self, args: TrainingArguments, state: Any, control: Any, logs: dict[str, float] | None = None, **rest: Any) -> None:
        logs = logs or {}
        figures = {name.removeprefix(HELD_OUT): value for name, value in logs.items() if name.startswith(HELD_OUT)}
        if figures:
            self.held_out = figures
            self.first = self.first or figures
            self.clock = time.monotonic()  # a probe is no training
        elif "loss" in logs:
            self.losses = {name: value for name, value in logs.items() if name not in MOMENT}
            if self.shown and not self.display and time.monotonic() - self.said > PERIOD:
                self.said = time.monotonic()
                say(self.line())

    def on_save(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        self.clock = time.monotonic()  # nor is a checkpoint

    def on_train_end(self, args: TrainingArguments, state: Any, control: Any, **rest: Any) -> None:
        self.close()
        if self.shown and not self.display:
            say(f"{self.label}: {state.global_step:,} steps")

    def close(self) -> None:
        """Leave the terminal as it was, with the last figures in it."""
        if self.display:
            self.display.stop()

    # What is shown.

    @property
    def speed(self) -> float:
        """Tokens a second, of late."""
        seconds = sum(taken for _, taken in self.recent)
        return sum(count for count, _ in self.recent) / seconds if seconds else 0.0

    @property
    def left(self) -> str:
        """Time left at the pace so far, probes included."""
        done = self.step - self.begun_at
        if not done:
            return "?"
        return str(timedelta(seconds=round((time.monotonic() - self.started) / done * (self.last_step - self.step))))

    def line(self) -> str:
        """The training figures as a line of text."""
        parts = " ".join(f"{name} {value:.3f}" for name, value in self.losses.items())
        return f"{self.label}: step {self.step:,}/{self.last_step:,}, {parts}, {self.speed:,.0f} tokens/s, {self.left} left"

    def table(self) -> Any:
        """All figures as a table."""
        from rich.table import Table

        terms = list(self.losses or {name: 0 for name in self.held_out if "_" not in name})
        title = f"{self.label}  step {self.step:,}/{self.last_step:,}  {self.speed:,.0f} tokens/s  {self.left} left"
        table = Table(title=title, title_justify="left", title_style="bold")
        ranks = [name for name in ("dense", "lexicon", "bm25") if f"{name}_RR@10" in self.held_out]
        for heading in ("", *terms, *(f"{'BM25' if name == 'bm25' else name} RR@10" for name in ranks)):
            table.add_column(heading, justify="right")
        table.add_row("training", *(f"{self.losses[name]:.3f}" if name in self.losses else "" for name in terms), *("" for _ in ranks))
        for heading, figures in (("first probe", self.first), ("last probe", self.held_out)):
            if figures:
                cells = [f"{figures[name]:.3f}" if name in figures else "" for name in [*terms, *(f"{name}_RR@10" for name in ranks)]]
                table.add_row(heading, *cells)
        return table
