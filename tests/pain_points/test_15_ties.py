"""Equal scores: the figure depends on a stated rule, never on the order of arrival."""

from __future__ import annotations

import itertools

from retrolex.evaluation.evaluate import evaluate


def test_a_constant_scorer_in_every_order():
    for relevant, expected in (("a", 1 / 3), ("b", 1 / 2), ("c", 1.0)):  # equal scores: document id, descending
        for hits in itertools.permutations([("a", 1.0), ("b", 1.0), ("c", 1.0)]):
            found = evaluate({"q": list(hits)}, {"q": {relevant: 1}}, ["RR@10"])
            assert found.mean("RR@10") == expected
            assert found.counts.tied == 1
