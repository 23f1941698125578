"""The live view shows step, losses, probe, speed and time left, in a terminal and without one."""

from __future__ import annotations

from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from retrolex.pretraining import live

PROBE = {"eval_loss": 7.5, "eval_encoder": 4.5, "eval_decoder": 3.0, "eval_dense_RR@10": 0.25, "eval_lexicon_RR@10": 0.1, "eval_bm25_RR@10": 0.6}


@pytest.fixture
def run(monkeypatch):
    """A function that leads a view through two steps of ten seconds; returns it."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: clock.now))

    def go(terminal: bool) -> tuple[live.Live, str]:
        out = StringIO()
        view = live.Live("pre-training", lambda step: 4000, Console(file=out, force_terminal=terminal, width=120))
        state = SimpleNamespace(global_step=0, max_steps=10, is_world_process_zero=True)
        view.on_train_begin(None, state, None)
        view.on_log(None, state, None, PROBE)
        for _ in range(2):
            clock.now += 10
            state.global_step += 1
            view.on_step_end(None, state, None)
            clock.now += 100  # a probe: no part of the speed
            view.on_log(None, state, None, PROBE | {"eval_dense_RR@10": 0.5})
            view.on_log(None, state, None, {"loss": 7.0, "encoder": 4.0, "decoder": 3.0, "learning_rate": 1e-4, "grad_norm": 2.0})
        text = Console(file=StringIO(), width=120)
        text.print(view.table())
        view.on_train_end(None, state, None)
        return view, text.file.getvalue()

    return go


def test_a_table_in_a_terminal(run, capsys):
    view, text = run(True)
    assert view.speed == 400.0
    for words in ("step 2/10", "400 tokens/s", "0:14:40 left", "7.000", "4.500", "0.250", "0.500", "BM25 RR@10", "0.600"):
        assert words in text
    assert "step 2/10" in view.console.file.getvalue()
    assert not capsys.readouterr().err


def test_lines_without_one(run, capsys):
    view, _ = run(False)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-2] == "pre-training: step 2/10, loss 7.000 encoder 4.000 decoder 3.000, 400 tokens/s, 0:14:40 left"
    assert lines[-1] == "pre-training: 2 steps"
    assert not view.console.file.getvalue()
