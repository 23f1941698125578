"""An empty run is a bad run, not a crash."""

from __future__ import annotations

from retrolex.evaluation.evaluate import evaluate


def test_an_empty_run_scores_zero():
    found = evaluate({}, {"q": {"d": 1}})
    assert {measure: found.mean(measure) for measure in found.measures} == {"nDCG@10": 0, "RR@10": 0, "R@100": 0}
