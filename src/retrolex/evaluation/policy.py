"""The policy: every choice that changes a figure without changing the retriever, in one place and printed with the figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from retrolex.errors import UserError

CHOICES = {
    "zero_scores": ("keep", "drop"),
    "self_hits": ("keep", "remove"),
    "missing": ("zero", "exclude"),
    "ties": ("descending", "ascending", "run"),
}
MISSING = {"zero": "count 0", "exclude": "are excluded"}
TIES = {"descending": "document id (both descending)", "ascending": "document id (ascending)", "run": "the order of the run"}


@dataclass(frozen=True)
class Policy:
    """How a run is read before it is measured. Three rules are fixed:

    - The average is over the judged queries that have a relevant document (grade >= 1, whatever level a measure asks for).
      Queries without one are excluded; queries without judgments are ignored. Both are counted.
    - Hits are ordered by score, highest first, compared in single precision as trec_eval does. The order is settled before
      any measure sees the run, so that all measures see the same one.
    - nDCG uses grades as given, negative ones as 0.

    Attributes:
        missing: "zero" counts a query for which the run has no hit as 0; "exclude" leaves it out of the average, as trec_eval
            does without ``-c``: a run can then gain by not answering.
        ties: equal scores by document id, "descending" (trec_eval's rule) or "ascending" (Anserini's and Pyserini's), or in
            the order of the "run".
        relevance: lowest grade that counts as relevant in measures that do not say ``rel=N`` themselves; nDCG has no such level.
        zero_scores: "drop" removes hits whose score is exactly 0 (no term in common), "keep" measures them.
        self_hits: "remove" takes out a hit whose document id is the query's id, as BEIR does for ArguAna and Quora, unless
            the judgments call that very document relevant to the query.
        depth: measure only the first so many hits of each query; None measures all.

    Raises:
        UserError: a value other than these.
    """

    zero_scores: Literal["keep", "drop"] = "keep"
    self_hits: Literal["keep", "remove"] = "keep"
    depth: int | None = None
    missing: Literal["zero", "exclude"] = "zero"
    ties: Literal["descending", "ascending", "run"] = "descending"
    relevance: int = 1

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise UserError(f"{name} is {getattr(self, name)!r}, expected {' or '.join(allowed)}")
        if self.relevance < 1:
            raise UserError(f"relevance is {self.relevance}, expected a grade of at least 1")
        if self.depth is not None and self.depth < 1:
            raise UserError(f"depth is {self.depth}, expected at least 1, or none for all hits")

    def describe(self) -> list[str]:
        """The policy in words, one sentence an entry."""
        return [
            f"Queries without a hit {MISSING[self.missing]}; queries without a relevant document are excluded.",
            f"Hits are ordered by score, then {TIES[self.ties]}, the same for every measure.",
            f"nDCG uses grades as given, negative ones as 0; other measures take a grade of at least {self.relevance} as relevant "
            "unless they say rel=N.",
            "Hits with a score of exactly 0 are " + ("dropped." if self.zero_scores == "drop" else "kept."),
            "Hits whose document id is the query's id are " + ("removed, unless judged relevant." if self.self_hits == "remove" else "kept."),
            f"The first {self.depth:,} hits of a query are measured." if self.depth else "All hits of a query are measured.",
        ]


@dataclass(frozen=True)
class Counts:
    """What the policy met in one run: queries and hits, counted.

    Attributes:
        queries: queries that the averages are over.
        missing: those of them without a hit, which count 0.
        without_relevant: judged queries excluded because no document has a grade >= 1.
        unjudged: queries of the run that have no judgments at all, ignored.
        tied: queries with at least two hits of equal score.
        zero_scores_dropped: hits removed for a score of exactly 0.
        self_hits_removed: hits removed for being the query itself.
        unanswered: queries excluded because the run has no hit, where the policy says so.
        unshared: queries excluded because another run of the comparison has no hit, where the policy says so.
    """

    queries: int
    missing: int
    without_relevant: int
    unjudged: int
    tied: int
    zero_scores_dropped: int
    self_hits_removed: int
    unanswered: int = 0
    unshared: int = 0

    def describe(self) -> list[str]:
        """The counts in words, one sentence an entry; what did not occur is left out."""
        said = {
            "Queries measured": self.queries,
            "Queries without a hit, counted as 0": self.missing,
            "Queries without a hit, excluded": self.unanswered,
            "Queries without a hit in another run, excluded": self.unshared,
            "Queries without a relevant document, excluded": self.without_relevant,
            "Queries of the run without judgments, ignored": self.unjudged,
            "Queries with tied scores": self.tied,
            "Hits dropped for a score of 0": self.zero_scores_dropped,
            "Self-hits removed": self.self_hits_removed,
        }
        return [f"{what}: {count:,}." for what, count in said.items() if count]
