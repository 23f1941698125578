"""One query can be measured, and shows nothing about a difference."""

from __future__ import annotations

from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.table import Row, results


def test_one_query_and_two_documents():
    qrels = {"q": {"d": 1}}
    good, bad = evaluate({"q": [("d", 2.0), ("e", 1.0)]}, qrels), evaluate({"q": [("e", 2.0), ("d", 1.0)]}, qrels)
    found = results([Row("bad", bad), Row("good", good)])
    assert found.intervals["good"]["RR@10"] == (1, 1, 1)
    assert found.standing("good", "RR@10") == "same"
