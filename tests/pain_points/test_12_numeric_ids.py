"""A document that happens to share its number with the query is an answer like any other."""

from __future__ import annotations

from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.policy import Policy


def test_document_5_answers_query_5():
    run, qrels = {"5": [("5", 2.0), ("6", 1.0)]}, {"5": {"5": 1}}
    assert evaluate(run, qrels).mean("nDCG@10") == 1
    assert evaluate(run, qrels, policy=Policy(self_hits="remove")).mean("nDCG@10") == 1
