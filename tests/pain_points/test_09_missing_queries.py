"""A query that the run forgot must lower the average, not leave it."""

from __future__ import annotations

from retrolex.evaluation.evaluate import evaluate


def test_half_the_queries_missing_halves_the_average():
    found = evaluate({"q1": [("d", 1.0)]}, {"q1": {"d": 1}, "q2": {"d": 1}})
    assert found.mean("nDCG@10") == 0.5
    assert found.counts.missing == 1
