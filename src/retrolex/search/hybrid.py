"""The hybrid: which runs are fused, how, and where that was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from retrolex.collection.documents import Qrels
from retrolex.evaluation.evaluate import evaluate
from retrolex.index.base import Run
from retrolex.progress import track
from retrolex.search.fusion import reciprocal_rank_fusion, rescored, weight_grid, weighted_sum

TUNING_DEPTH = 100  # hits a query that are fused while weights are tried
TUNING_MEASURE = "nDCG@10"
RESCORED = 100  # documents a query that a second retriever puts in order


@dataclass(frozen=True)
class Hybrid:
    """A way to fuse.

    Attributes:
        method: ``rrf`` (reciprocal ranks, k = 60), ``weights`` (weighted sum of normalised scores) or ``rescore`` (the first system's
            best 100, in the order of the second's scores).
        weights: system -> weight; for ``rrf`` and ``rescore`` the systems that take part have 1.
        reason: how it was chosen, for the reader.
        tried: method or weights -> nDCG@10, when it was tuned.
        normalization: of the scores that are summed: ``z``, ``minmax`` or ``none``.
    """

    method: str
    weights: dict[str, float]
    reason: str
    tried: dict[str, float] = field(default_factory=dict)
    normalization: str = "z"

    @property
    def systems(self) -> list[str]:
        """Those that take part."""
        return [name for name, weight in self.weights.items() if weight > 0]

    def fuse(self, runs: Mapping[str, Run]) -> Run:
        """One run of several."""
        chosen = {name: runs[name] for name in self.systems}
        if self.method == "rrf":
            return reciprocal_rank_fusion(chosen)
        if self.method == "rescore":
            return rescored(*chosen.values(), depth=RESCORED)
        return weighted_sum(chosen, self.weights, self.normalization)


def equal(names: list[str], reason: str, normalization: str = "z") -> Hybrid:
    """All systems with equal weight. Lexicon and dense without normalisation are the full ensemble of Shen et al. 2023."""
    return Hybrid("weights", {name: round(1 / len(names), 4) for name in names}, reason, normalization=normalization)


def rescore(first: str, second: str, reason: str) -> Hybrid:
    """One system proposes, the other puts in order."""
    return Hybrid("rescore", {first: 1.0, second: 1.0}, reason)


def tune(runs: Mapping[str, Run], qrels: Qrels, name: str, normalizations: Sequence[str] = ("z",)) -> Hybrid:
    """The fusion with the best nDCG@10 on a split that is not the one reported; a single system is among the candidates.

    Args:
        runs: system -> run of the split's queries.
        qrels: the split's judgments.
        name: of the split, for the reader.
        normalizations: that weighted sums are tried with.
    """
    cut = {system: {query: hits[:TUNING_DEPTH] for query, hits in run.items()} for system, run in runs.items()}
    candidates = [Hybrid("weights", weights, "", normalization=way) for way in normalizations for weights in weight_grid(list(runs))]
    candidates.append(Hybrid("rrf", {system: 1.0 for system in runs}, ""))
    scores = [evaluate(hybrid.fuse(cut), qrels, [TUNING_MEASURE]).mean(TUNING_MEASURE) for hybrid in track(candidates, "Tuning the hybrid")]
    best = max(range(len(candidates)), key=lambda i: (round(scores[i], 4), balance(candidates[i])))
    tried = {label(hybrid): round(score, 4) for hybrid, score in zip(candidates, scores, strict=True)}
    reason = f"best {TUNING_MEASURE} of {len(candidates)} fusions on {len(qrels)} queries of {name}"
    return replace(candidates[best], reason=reason, tried=tried)


def balance(hybrid: Hybrid) -> float:
    """How evenly the systems take part: of fusions that are equally good, the most even one is the least fitted to the queries."""
    return -sum(weight**2 for weight in hybrid.weights.values()) if hybrid.method == "weights" else -1.0


def label(hybrid: Hybrid) -> str:
    """Short name of a fusion: ``rrf``, ``lexicon, then dense``, ``bm25 0.3 + dense 0.7``, or that and the normalisation where it is not z."""
    if hybrid.method == "rrf":
        return "rrf"
    if hybrid.method == "rescore":
        return ", then ".join(hybrid.systems)
    weights = " + ".join(f"{name} {hybrid.weights[name]:g}" for name in hybrid.systems)
    return weights if hybrid.normalization == "z" else f"{weights} ({hybrid.normalization})"
