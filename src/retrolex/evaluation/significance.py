"""Uncertainty of averages and of differences: bootstrap intervals, paired tests, Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from retrolex.evaluation.evaluate import Evaluation

RESAMPLES = 10_000
LEVEL = 0.95
BLOCK = 1 << 22  # resampled values held at a time: 32 MB
EXACT_UP_TO = 13  # queries up to which all 2^n sign patterns are tried


class Interval(NamedTuple):
    """An average and its bootstrap interval."""

    mean: float
    low: float
    high: float


def bootstrap_means(values: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """Averages over queries drawn with replacement; every column sees the same draws, so columns stay paired.

    Args:
        values: (queries,) or (queries, columns).

    Returns:
        (resamples, columns) averages; one column for one-dimensional values.
    """
    values = values.reshape(len(values), -1)
    n, rng, means = len(values), np.random.default_rng(seed), []
    step = max(1, BLOCK // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        draws = rng.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(draws.ravel(), minlength=size * n).reshape(size, n)  # how often each query was drawn
        means.append(times @ values / n)
    return np.concatenate(means)


def percentiles(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the 95% percentile intervals of bootstrap averages, one a column."""
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return low, high


def intervals(evaluation: Evaluation, resamples: int = RESAMPLES, seed: int = 0) -> dict[str, Interval]:
    """95% bootstrap percentile interval of every measure's average (Efron and Tibshirani 1993, chapter 13)."""
    values = np.stack(list(evaluation.values.values()), axis=1)
    low, high = percentiles(bootstrap_means(values, resamples, seed))
    return {name: Interval(evaluation.mean(name), float(low[i]), float(high[i])) for i, name in enumerate(evaluation.values)}


def paired_t(differences: np.ndarray) -> float:
    """Two-sided p of Student's paired t test; 1 where it is not defined (one query, or no difference anywhere)."""
    from scipy.stats import t

    n, mean = len(differences), differences.mean()
    if n < 2 or mean == 0:
        return 1.0
    error = differences.std(ddof=1) / np.sqrt(n)
    return float(2 * t.sf(abs(mean) / error, n - 1)) if error > 0 else 0.0


def paired_randomisation(differences: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Two-sided p of Fisher's paired randomisation test: how often random signs give an average as far from 0.

    All sign patterns are tried for up to 13 queries; beyond that `resamples` random ones, counting the observed one among
    them, so that p is never 0 (Smucker, Allan and Carterette 2007).
    """
    n = len(differences)
    reach = abs(differences.sum()) * (1 - 1e-9)  # sums of the same numbers in another order differ in the last bits
    if n <= EXACT_UP_TO:
        signs = ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1) * 2.0 - 1
        return float((np.abs(signs @ differences) >= reach).mean())
    rng, hits, step = np.random.default_rng(seed), 0, max(1, BLOCK // n)
    for start in range(0, resamples, step):
        flipped = rng.integers(2, size=(min(step, resamples - start), n), dtype=np.int8)
        hits += int((np.abs(differences.sum() - 2 * (flipped @ differences)) >= reach).sum())
    return (hits + 1) / (resamples + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979): adjusted p of each test, in the order given."""
    adjusted, floor = [0.0] * len(p_values), 0.0
    for done, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (len(p_values) - done) * p_values[i]))
        adjusted[i] = floor
    return adjusted
