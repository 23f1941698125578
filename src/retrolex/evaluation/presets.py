"""Measures and policy of the well-known benchmarks, as their papers report them."""

from __future__ import annotations

from typing import NamedTuple

from retrolex.errors import UserError
from retrolex.evaluation.policy import Policy


class Preset(NamedTuple):
    """What a benchmark reports, and under which policy."""

    measures: tuple[str, ...]
    policy: Policy
    note: str


PRESETS = {
    "msmarco-passage": Preset(
        ("RR@10", "R@50", "R@1000", "nDCG@10"),
        Policy(depth=1000),
        "MS MARCO passage ranking, dev: one relevant passage for most queries; RR@10 is the headline",
    ),
    "msmarco-document": Preset(("RR@100", "R@100", "nDCG@10"), Policy(depth=100), "MS MARCO document ranking, dev: RR@100 is the headline"),
    "trec-dl": Preset(
        ("nDCG@10", "RR@10", "R@1000", "AP"),
        Policy(depth=1000, relevance=2),
        "TREC Deep Learning, passages: grades 0 to 3, of which 2 and 3 count as relevant; for documents --relevance 1 and --depth 100",
    ),
    "beir": Preset(
        ("nDCG@10", "R@100"),
        Policy(self_hits="remove"),
        "BEIR: a document whose id is the query's id is no answer (it matters for ArguAna and Quora)",
    ),
}


def preset(name: str) -> Preset:
    """The preset called `name`.

    Raises:
        UserError: no such preset.
    """
    if name not in PRESETS:
        raise UserError(f"no preset is called {name!r}", mend=f"choose one of {', '.join(PRESETS)}")
    return PRESETS[name]
