"""The hybrid: which runs are fused, how, and where that was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from retrolex.collection.documents import Qrels
from retrolex.evaluation.evaluate import evaluate
from retrolex.index.base import Run
from retrolex.progress import track
from retrolex.search.fusion import reciprocal_rank_fusion, weight_grid, weighted_sum

TUNING_DEPTH = 100  # hits a query that are fused while weights are tried
TUNING_MEASURE = "nDCG@10"


@dataclass(frozen=True)
class Hybrid:
    """A way to fuse.

    Attributes:
        method: ``rrf`` (reciprocal ranks, k = 60) or ``weights`` (weighted sum of z-normalised scores).
        weights: system -> weight; for ``rrf`` the systems that take part have 1.
        reason: how it was chosen, for the reader.
        tried: method or weights -> nDCG@10, when it was tuned.
    """

    method: str
    weights: dict[str, float]
    reason: str
    tried: dict[str, float] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """Those that take part."""
        return [name for name, weight in self.weights.items() if weight > 0]

    def fuse(self, runs: Mapping[str, Run]) -> Run:
        """One run of several."""
        chosen = {name: runs[name] for name in self.systems}
        return reciprocal_rank_fusion(chosen) if self.method == "rrf" else weighted_sum(chosen, self.weights)


def equal(names: list[str], reason: str) -> Hybrid:
    """All systems with equal weight."""
    return Hybrid("weights", {name: round(1 / len(names), 4) for name in names}, reason)


def tune(runs: Mapping[str, Run], qrels: Qrels, name: str) -> Hybrid:
    """The fusion with the best nDCG@10 on a split that is not the one reported; a single system is among the candidates.

    Args:
        runs: system -> run of the split's queries.
        qrels: the split's judgments.
        name: of the split, for the reader.
    """
    cut = {system: {query: hits[:TUNING_DEPTH] for query, hits in run.items()} for system, run in runs.items()}
    candidates = [Hybrid("weights", weights, "") for weights in weight_grid(list(runs))]
    candidates.append(Hybrid("rrf", {system: 1.0 for system in runs}, ""))
    scores = [evaluate(hybrid.fuse(cut), qrels, [TUNING_MEASURE]).mean(TUNING_MEASURE) for hybrid in track(candidates, "Tuning the hybrid")]
    best = max(range(len(candidates)), key=lambda i: (round(scores[i], 4), balance(candidates[i])))
    tried = {label(hybrid): round(score, 4) for hybrid, score in zip(candidates, scores, strict=True)}
    reason = f"best {TUNING_MEASURE} of {len(candidates)} fusions on {len(qrels)} queries of {name}"
    return Hybrid(candidates[best].method, candidates[best].weights, reason, tried)


def balance(hybrid: Hybrid) -> float:
    """How evenly the systems take part: of fusions that are equally good, the most even one is the least fitted to the queries."""
    return -sum(weight**2 for weight in hybrid.weights.values()) if hybrid.method == "weights" else -1.0


def label(hybrid: Hybrid) -> str:
    """Short name of a fusion: ``rrf``, or ``bm25 0.3 + dense 0.7``."""
    return "rrf" if hybrid.method == "rrf" else " + ".join(f"{name} {hybrid.weights[name]:g}" for name in hybrid.systems)
