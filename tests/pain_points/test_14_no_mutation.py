"""Measuring a run twice gives the same figures, for the run stays the caller's."""

from __future__ import annotations

import copy

from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.policy import Policy


def test_the_run_is_left_alone():
    run = {"q": [("q", 3.0), ("x", 0.0), ("d", 2.0)]}
    before = copy.deepcopy(run)
    policy = Policy(zero_scores="drop", self_hits="remove")
    first, second = (evaluate(run, {"q": {"d": 1}}, policy=policy) for _ in range(2))
    assert run == before
    assert first.counts == second.counts
