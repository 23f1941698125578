"""Intervals and tests: by hand, against scipy, and how often they are right."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from retrolex.evaluation.significance import bootstrap_means, holm, paired_randomisation, paired_t, percentiles


def test_bootstrap_equals_a_loop(monkeypatch):
    values = np.random.default_rng(3).normal(size=(7, 2))
    rng = np.random.default_rng(5)
    draws = rng.integers(7, size=(50, 7))
    expected = np.array([values[draw].mean(axis=0) for draw in draws])
    np.testing.assert_allclose(bootstrap_means(values, 50, seed=5), expected, atol=1e-12)


def test_bootstrap_in_blocks_keeps_columns_paired(monkeypatch):
    monkeypatch.setattr("retrolex.evaluation.significance.BLOCK", 100)
    values = np.random.default_rng(3).normal(size=30)
    means = bootstrap_means(np.stack([values, 2 * values], axis=1), 500)
    assert means.shape == (500, 2)
    np.testing.assert_allclose(means[:, 1], 2 * means[:, 0])


def test_same_seed_same_interval_and_one_query_has_no_width():
    values = np.random.default_rng(0).random(40)
    assert (bootstrap_means(values, 200) == bootstrap_means(values, 200)).all()
    assert (bootstrap_means(values, 200) != bootstrap_means(values, 200, seed=1)).any()
    assert (bootstrap_means(np.array([0.3]), 10) == 0.3).all()


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(11)
    covered = 0
    for trial in range(300):
        low, high = percentiles(bootstrap_means(rng.beta(1, 2, size=60), 500, seed=trial))  # true mean 1/3
        covered += low[0] <= 1 / 3 <= high[0]
    assert 0.90 <= covered / 300 <= 0.98


def test_t_equals_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.random(30), rng.random(30)
    assert paired_t(a - b) == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert paired_t(np.array([0.5])) == paired_t(np.zeros(9)) == 1.0
    assert paired_t(np.full(5, 0.25)) == 0.0


def test_randomisation_by_hand():
    assert paired_randomisation(np.array([0.2])) == 1.0  # one query shows nothing
    assert paired_randomisation(np.full(5, 0.1)) == 2 / 32  # only all plus and all minus reach as far
    assert paired_randomisation(np.zeros(40)) == 1.0


def test_randomisation_equals_every_sign_pattern():
    differences = np.random.default_rng(2).normal(0.3, 1, size=9)
    sums = np.array([np.dot(signs, differences) for signs in itertools.product((-1, 1), repeat=9)])
    assert paired_randomisation(differences) == (abs(sums) >= abs(differences.sum()) - 1e-12).mean()


def test_randomisation_of_many_queries_agrees_with_scipy():
    differences = np.random.default_rng(4).normal(0.1, 0.6, size=120)
    theirs = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=4000, vectorized=False)
    assert paired_randomisation(differences) == pytest.approx(theirs.pvalue, abs=0.03)
    assert 0 < paired_randomisation(np.ones(200)) <= 1 / 10_000


def test_randomisation_is_wrong_no_more_often_than_it_says():
    rng = np.random.default_rng(9)
    wrong = sum(paired_randomisation(rng.normal(size=25), 400, seed=i) < 0.05 for i in range(300))
    assert wrong / 300 < 0.09


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.5]) == [1.0, 1.0]
    assert holm([]) == []
