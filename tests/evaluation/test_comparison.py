"""Verdicts: what is claimed, and what is not."""

from __future__ import annotations

import numpy as np
import pytest

from retrolex.errors import UserError
from retrolex.evaluation.comparison import compare
from retrolex.evaluation.evaluate import Evaluation, evaluate
from retrolex.evaluation.policy import Counts, Policy


def evaluation(values, policy=None):
    values = np.asarray(values, dtype=float)
    queries = [f"q{i}" for i in range(len(values))]
    return Evaluation(queries, {"nDCG@10": values}, np.ones(len(values)), policy or Policy(), Counts(len(values), 0, 0, 0, 0, 0, 0))


def against_bm25(before, after):
    return compare({"BM25": evaluation(before), "hybrid": evaluation(after)}, "BM25").of("hybrid", "nDCG@10")


def test_a_plain_gain_is_called_one():
    before = np.random.default_rng(0).uniform(0.3, 0.5, 100)
    found = against_bm25(before, before + np.random.default_rng(1).normal(0.05, 0.05, 100))
    assert found.significant
    assert found.headline().startswith("hybrid beats BM25 by 1")
    assert "± " in found.headline() and found.headline().endswith("nDCG@10")
    assert found.change.low < found.change.mean < found.change.high
    assert "p < 0.001" in found.verdict()


def test_a_plain_loss_is_called_one():
    found = against_bm25(np.linspace(0.4, 0.9, 60), np.linspace(0.3, 0.8, 60))
    assert found.significant
    assert found.headline().startswith("hybrid is worse than BM25 by 15.4% ± 0.0")
    assert found.losses == 60


def test_noise_is_not_called_a_difference():
    rng = np.random.default_rng(5)
    found = against_bm25(rng.random(80), rng.random(80))
    assert not found.significant
    assert found.headline() == "No difference in nDCG@10 between hybrid and BM25 that these 80 queries can show"


def test_few_queries_show_nothing_however_clear_they_look():
    assert not against_bm25([0.0] * 5, [1.0] * 5).significant
    one = against_bm25([0.0], [1.0])
    assert not one.significant and one.p_t == one.p_randomisation == 1.0
    assert "one query can show" in one.headline()


def test_equal_runs_are_called_equal():
    assert against_bm25([0.1, 0.2], [0.1, 0.2]).headline() == "hybrid and BM25 are equal on every query by nDCG@10"


def test_a_baseline_of_zero_has_no_percentage():
    found = against_bm25([0.0] * 20, [0.5] * 20)
    assert found.percent is None
    assert found.headline() == "hybrid beats BM25 by 0.500 nDCG@10"


def test_rounding_is_no_win():
    found = against_bm25([0.1 + 0.2, 0.5], [0.3, 0.5])
    assert (found.wins, found.ties, found.losses) == (0, 2, 0)


def test_wins_ties_losses_and_correction_over_the_whole_family():
    rng = np.random.default_rng(3)
    base = rng.random(50)
    systems = {"BM25": evaluation(base)} | {f"s{i}": evaluation(base + rng.normal(0.02, 0.1, 50)) for i in range(4)}
    found = compare(systems, "BM25")
    assert len(found.differences) == 4
    assert all(d.queries == 50 and d.p_holm >= d.p_randomisation and d.p_t_holm >= d.p_t for d in found.differences)


def test_runs_with_different_queries_compare():
    qrels = {"q1": {"d": 1}, "q2": {"d": 1}}
    found = compare({"a": evaluate({"q1": [("d", 1.0)]}, qrels), "b": evaluate({"q2": [("d", 1.0)]}, qrels)}, "a")
    assert (found.of("b", "RR@10").wins, found.of("b", "RR@10").losses) == (1, 1)


def test_what_was_not_measured_alike_is_refused():
    with pytest.raises(UserError, match="not measured alike"):
        compare({"a": evaluation([0.1, 0.2]), "b": evaluation([0.1])}, "a")
    with pytest.raises(UserError, match="not measured alike"):
        compare({"a": evaluation([0.1]), "b": evaluation([0.1], Policy(depth=5))}, "a")
    with pytest.raises(UserError, match="no system is called 'c'"):
        compare({"a": evaluation([0.1])}, "c")
