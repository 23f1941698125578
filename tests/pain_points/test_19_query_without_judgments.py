"""A query with empty judgments is excluded, and spoils nothing that comes after it."""

from __future__ import annotations

import math

from retrolex.evaluation.evaluate import evaluate


def test_empty_judgments_first():
    run = {"q1": [("d", 1.0)], "q2": [("d", 1.0)], "q3": [("e", 1.0), ("d", 0.5)]}
    found = evaluate(run, {"q1": {}, "q2": {"d": 1}, "q3": {"d": 1}})
    assert found.values["nDCG@10"].tolist() == [1, 1 / math.log2(3)]
    assert found.counts.without_relevant == 1
