"""A score of 0 may mean "no term in common": one flag says whether it counts."""

from __future__ import annotations

from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.policy import Policy


def test_kept_or_dropped_and_said():
    run, qrels = {"q": [("d", 0.0)]}, {"q": {"d": 1}}
    kept, dropped = evaluate(run, qrels), evaluate(run, qrels, policy=Policy(zero_scores="drop"))
    assert (kept.mean("RR@10"), dropped.mean("RR@10")) == (1, 0)
    assert "Hits dropped for a score of 0: 1." in dropped.describe()
