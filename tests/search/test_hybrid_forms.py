"""Normalisations, rescoring, and tuning among them."""

from __future__ import annotations

import pytest

from retrolex.search.fusion import min_max, rescored, weighted_sum
from retrolex.search.hybrid import Hybrid, equal, label, rescore, tune

LEXICON = {"q": [("a", 900.0), ("b", 800.0), ("c", 100.0)]}
DENSE = {"q": [("c", 0.9), ("a", 0.5), ("d", 0.1)]}


def test_min_max_runs_from_nothing_to_one():
    import numpy as np

    assert min_max(np.array([4.0, 2.0, 3.0])).tolist() == [1.0, 0.0, 0.5]
    assert min_max(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]


def test_weighted_sums_by_hand():
    fused = dict(weighted_sum({"x": LEXICON, "y": DENSE}, {"x": 0.5, "y": 0.5}, "minmax")["q"])
    assert fused == {"a": pytest.approx(0.75), "b": pytest.approx(0.5 * 700 / 800), "c": pytest.approx(0.5), "d": 0.0}
    raw = dict(weighted_sum({"x": LEXICON, "y": DENSE}, {"x": 1.0, "y": 1.0}, "none")["q"])
    assert raw == {"a": 900.5, "b": 800.1, "c": 100.9, "d": 100.1}  # what a run did not find gets its lowest score


def test_rescoring_keeps_the_first_and_orders_by_the_second():
    assert [document for document, _ in rescored(LEXICON, DENSE, 10)["q"]] == ["c", "a", "b"]
    assert [document for document, _ in rescored(LEXICON, DENSE, 2)["q"]] == ["a", "b"]
    scores = [score for _, score in rescored(LEXICON, {}, 3)["q"]]
    assert scores == sorted(scores, reverse=True)
    hybrid = rescore("lexicon", "dense", "")
    assert hybrid.fuse({"dense": DENSE, "lexicon": LEXICON}) == rescored(LEXICON, DENSE, 100) and label(hybrid) == "lexicon, then dense"


def test_tuning_tries_every_normalisation():
    tuned = tune({"lexicon": LEXICON, "dense": DENSE}, {"q": {"c": 1}}, "dev", ("z", "minmax", "none"))
    assert len(tuned.tried) == 3 * 11 + 1
    assert tuned.fuse({"lexicon": LEXICON, "dense": DENSE})["q"][0][0] == "c"
    assert label(equal(["a", "b"], "", "none")) == "a 0.5 + b 0.5 (none)"
    assert Hybrid("weights", {"a": 1.0}, "").normalization == "z"
