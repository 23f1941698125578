"""Grades are grades, and a grade of 0 is not relevant."""

from __future__ import annotations

import math

import pytest

from retrolex.evaluation.evaluate import evaluate


def test_the_irrelevant_document_on_top():
    found = evaluate({"q": [("d1", 2.0), ("d3", 1.0)]}, {"q": {"d1": 0, "d3": 3}}, ["nDCG@10", "RR@10"])
    assert found.mean("nDCG@10") == pytest.approx(1 / math.log2(3))
    assert found.mean("RR@10") == 0.5
