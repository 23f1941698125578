"""Several runs made into one: reciprocal ranks, weighted sums of scores, or one run's documents in another's order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from retrolex.index.base import Run

RRF_K = 60  # Cormack, Clarke and Buettcher 2009
STEPS = 10  # weights are tried in tenths


def reciprocal_rank_fusion(runs: Mapping[str, Run], k: int = RRF_K) -> Run:
    """Sum of 1 / (k + rank) over the runs that found a document (Cormack, Clarke and Buettcher 2009)."""
    return combine(
        {name: {query: [(d, 1 / (k + rank)) for rank, (d, _) in enumerate(hits, 1)] for query, hits in run.items()} for name, run in runs.items()}
    )


def weighted_sum(runs: Mapping[str, Run], weights: Mapping[str, float], normalization: str = "z") -> Run:
    """Sum of weight x normalised score: a convex combination when the weights sum to 1. A document that a run did not find gets that run's lowest.

    Args:
        runs: name -> run. Runs may differ in queries and in documents.
        weights: name -> weight; runs of weight 0 take no part.
        normalization: of each query's scores, a name of `NORMALIZATIONS`.
    """
    chosen = {name: normalized(runs[name], normalization) for name, weight in weights.items() if weight > 0}
    floors = {name: {query: min(score for _, score in hits) for query, hits in run.items() if hits} for name, run in chosen.items()}
    fused: Run = {}
    for query in dict.fromkeys(query for run in chosen.values() for query in run):
        found = {name: dict(run.get(query, ())) for name, run in chosen.items()}
        documents = dict.fromkeys(document for scores in found.values() for document in scores)
        fused[query] = ranked(
            (document, sum(weights[name] * scores.get(document, floors[name].get(query, 0.0)) for name, scores in found.items()))
            for document in documents
        )
    return fused


def z_scores(scores: np.ndarray) -> np.ndarray:
    """Zero mean and unit variance; equal scores become 0."""
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread > 0 else np.zeros_like(scores)


def min_max(scores: np.ndarray) -> np.ndarray:
    """From 0 (the lowest) to 1 (the highest); equal scores become 0."""
    spread = np.ptp(scores)
    return (scores - scores.min()) / spread if spread > 0 else np.zeros_like(scores)


NORMALIZATIONS = {"z": z_scores, "minmax": min_max, "none": np.asarray}


def normalized(run: Run, normalization: str = "z") -> Run:
    """The run with each query's scores normalised."""
    result: Run = {}
    for query, hits in run.items():
        scores = NORMALIZATIONS[normalization](np.array([score for _, score in hits], dtype=np.float64)) if hits else []
        result[query] = [(document, float(score)) for (document, _), score in zip(hits, scores, strict=True)]
    return result


def rescored(first: Run, second: Run, depth: int) -> Run:
    """The first `depth` documents of `first`, by their scores in `second`: lexicon retrieval, then dense rescoring (Shen et al. 2023).

    Documents that `second` did not find come last, in the order of `first`: their scores there are no higher than its lowest.
    """
    result: Run = {}
    for query, hits in first.items():
        scores = dict(second.get(query, ()))
        floor = min(scores.values(), default=0.0)
        found = [(document, scores[document]) for document, _ in hits[:depth] if document in scores]
        missing = [document for document, _ in hits[:depth] if document not in scores]
        result[query] = ranked(iter(found)) + [(document, floor - rank) for rank, document in enumerate(missing, 1)]
    return result


def combine(runs: Mapping[str, Run]) -> Run:
    """Plain sum of scores; a document that a run did not find gets nothing from it."""
    fused: Run = {}
    for query in dict.fromkeys(query for run in runs.values() for query in run):
        total: dict[str, float] = {}
        for run in runs.values():
            for document, score in run.get(query, ()):
                total[document] = total.get(document, 0.0) + score
        fused[query] = ranked(total.items())
    return fused


def ranked(scored: Iterator[tuple[str, float]]) -> list[tuple[str, float]]:
    """By falling score; equal scores keep the order in which the documents were first found."""
    return sorted(scored, key=lambda pair: -pair[1])


def weight_grid(names: list[str]) -> Iterator[dict[str, float]]:
    """Every way to share 1 among the names in tenths, single systems included."""
    for shares in product(range(STEPS + 1), repeat=len(names) - 1):
        rest = STEPS - sum(shares)
        if rest >= 0:
            yield {name: share / STEPS for name, share in zip(names, (*shares, rest), strict=True)}
