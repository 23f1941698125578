"""All measures of one call see the same ranking."""

from __future__ import annotations

import math

from retrolex.evaluation.evaluate import evaluate


def test_first_by_one_measure_is_first_by_all():
    for relevant, rank in (("b", 1), ("a", 2)):
        found = evaluate({"q": [("a", 1.0), ("b", 1.0)]}, {"q": {relevant: 1}}, ["RR@10", "RR", "nDCG@10", "P@1", "Success@1", "AP"])
        assert found.mean("RR@10") == found.mean("RR") == found.mean("AP") == 1 / rank
        assert found.mean("nDCG@10") == 1 / math.log2(1 + rank)
        assert found.mean("P@1") == found.mean("Success@1") == (rank == 1)
