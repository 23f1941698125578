"""Two runs that answer different queries can be compared: what is missing counts 0."""

from __future__ import annotations

from retrolex.evaluation.comparison import compare
from retrolex.evaluation.evaluate import evaluate


def test_run_a_has_q1_and_run_b_has_q2():
    qrels = {"q1": {"d": 1}, "q2": {"d": 1}}
    a, b = evaluate({"q1": [("d", 1.0)]}, qrels), evaluate({"q2": [("d", 1.0)]}, qrels)
    difference = compare({"a": a, "b": b}, "a").of("b", "RR@10")
    assert (difference.wins, difference.losses, difference.change.mean) == (1, 1, 0)
