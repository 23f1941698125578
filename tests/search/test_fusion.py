"""Fusion by hand-computed values, and what it must keep whatever the runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrolex.search.fusion import reciprocal_rank_fusion, weight_grid, weighted_sum, z_scores
from retrolex.search.hybrid import Hybrid, equal, label, tune

A = {"q": [("a", 3.0), ("b", 1.0)]}
B = {"q": [("b", 10.0), ("c", 8.0)]}


def test_reciprocal_ranks_add_up():
    fused = reciprocal_rank_fusion({"A": A, "B": B})["q"]
    assert [document for document, _ in fused] == ["b", "a", "c"]
    assert [score for _, score in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62])


def test_a_weighted_sum_of_z_scores_gives_an_absent_document_the_lowest_score():
    fused = dict(weighted_sum({"A": A, "B": B}, {"A": 0.75, "B": 0.25})["q"])
    assert fused == pytest.approx({"a": 0.75 - 0.25, "b": -0.75 + 0.25, "c": -0.75 - 0.25})


def test_runs_with_other_queries_take_part_where_they_have_some():
    fused = weighted_sum({"A": A, "B": {"p": [("x", 1.0)]}}, {"A": 0.5, "B": 0.5})
    assert set(fused) == {"q", "p"}
    assert [document for document, _ in fused["q"]] == ["a", "b"]
    assert reciprocal_rank_fusion({"A": A, "B": {"p": [("x", 1.0)]}})["p"] == [("x", 1 / 61)]


def test_a_weight_of_zero_leaves_a_run_out_altogether():
    assert [d for d, _ in weighted_sum({"A": A, "B": B}, {"A": 1.0, "B": 0.0})["q"]] == ["a", "b"]


def test_equal_scores_have_no_spread_and_become_zero():
    assert z_scores(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]


def test_an_empty_query_stays_empty():
    assert weighted_sum({"A": {"q": []}, "B": {"q": []}}, {"A": 0.5, "B": 0.5}) == {"q": []}


@given(st.integers(2, 4))
def test_weights_share_one_and_hold_every_single_system(count):
    names = [str(i) for i in range(count)]
    grid = list(weight_grid(names))
    assert all(sum(weights.values()) == pytest.approx(1) for weights in grid)
    assert all(any(weights[name] == 1 for weights in grid) for name in names)
    assert len({tuple(weights.values()) for weights in grid}) == len(grid)


scores = st.dictionaries(st.sampled_from("abcdefg"), st.floats(-5, 5), min_size=1)


@given(scores, scores, st.floats(0, 1))
def test_fusion_returns_each_document_once_in_falling_order(one, other, weight):
    runs = {name: {"q": sorted(found.items(), key=lambda pair: -pair[1])} for name, found in (("A", one), ("B", other))}
    for fused in (reciprocal_rank_fusion(runs), weighted_sum(runs, {"A": weight, "B": 1 - weight})):
        documents = [document for document, _ in fused["q"]]
        values = [score for _, score in fused["q"]]
        assert len(set(documents)) == len(documents)
        assert values == sorted(values, reverse=True)


def test_tuning_finds_the_system_that_is_right_and_says_where():
    good = {f"q{i}": [(f"d{i}", 2.0), ("x", 1.0)] for i in range(8)}
    bad = {f"q{i}": [("x", 9.0), (f"d{i}", 0.0)] for i in range(8)}
    hybrid = tune({"good": good, "bad": bad}, {f"q{i}": {f"d{i}": 1} for i in range(8)}, "the dev split")
    assert hybrid.weights["good"] > hybrid.weights["bad"]
    assert "8 queries of the dev split" in hybrid.reason
    assert max(hybrid.tried.values()) == 1.0


def test_labels():
    assert label(equal(["bm25", "dense"], "")) == "bm25 0.5 + dense 0.5"
    assert label(Hybrid("rrf", {"bm25": 1.0}, "")) == "rrf"
