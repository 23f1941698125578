"""Ids that are numbers on one side and text on the other are the same ids."""

from __future__ import annotations

from retrolex.evaluation.evaluate import evaluate


def test_int_and_str():
    for run, qrels in (({"1": {"2": 1.0}}, {1: {2: 1}}), ({1: [(2, 1.0)]}, {"1": {"2": 1}})):
        assert evaluate(run, qrels).mean("nDCG@10") == 1
