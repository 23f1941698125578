"""Measure a run against judgments, query by query; ir_measures and trec_eval do the arithmetic."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from retrolex.errors import UserError
from retrolex.evaluation.measures import DEFAULT_MEASURES, parse_measures
from retrolex.evaluation.policy import Counts, Policy
from retrolex.evaluation.ranking import apply_policy

if TYPE_CHECKING:
    from retrolex.collection.documents import Qrels
    from retrolex.index.base import Run


@dataclass(frozen=True)
class Evaluation:
    """Per-query values of one run.

    Attributes:
        queries: ids of the measured queries, in the order of the judgments.
        values: measure -> one float64 a query, shape (queries,), in the order of `queries`.
        judged_shares: of each query, the share of the first ten hits that have a judgment, shape (queries,).
        policy: what the values were taken under.
        counts: what the policy met.
    """

    queries: list[str]
    values: dict[str, np.ndarray]
    judged_shares: np.ndarray
    policy: Policy
    counts: Counts

    @property
    def measures(self) -> list[str]:
        """Canonical names, in the order asked for."""
        return list(self.values)

    def mean(self, measure: str) -> float:
        """Average of a measure over the queries."""
        return float(self.values[measure].mean())

    @property
    def judged(self) -> float:
        """Average of the judged shares."""
        return float(self.judged_shares.mean())

    def only(self, queries: Collection[str]) -> Evaluation:
        """The same for some of the queries; the others are counted as excluded for another run's sake."""
        kept = np.array([query in queries for query in self.queries])
        return Evaluation(
            [query for query in self.queries if query in queries],
            {measure: values[kept] for measure, values in self.values.items()},
            self.judged_shares[kept],
            self.policy,
            replace(self.counts, queries=int(kept.sum()), unshared=int((~kept).sum())),
        )

    def describe(self) -> list[str]:
        """Policy and counts in words: the small print of every figure."""
        return [*self.policy.describe(), *self.counts.describe(), f"{self.judged:.0%} of the first ten hits have a judgment (Judged@10)."]


def evaluate(run: Run, qrels: Qrels, measures: Iterable[str] = DEFAULT_MEASURES, policy: Policy | None = None) -> Evaluation:
    """Measure `run` under `policy` (the default one when None). Neither the run nor the judgments are changed.

    Args:
        run: query id -> (document id, score) pairs, in any order.
        qrels: query id -> document id -> grade.
        measures: names in the grammar of ir_measures, or aliases (see `retrolex.evaluation.measures`).

    Raises:
        UserError: an unknown measure, a run with a document twice for a query, or judgments without any relevant document.
    """
    import ir_measures

    policy = policy or Policy()
    wanted = parse_measures(measures, policy.relevance)
    qrels = {str(query): {str(document): int(grade) for document, grade in judged.items()} for query, judged in qrels.items()}
    ranking, counts = apply_policy(run, qrels, policy)
    if counts.unanswered and not counts.queries:
        raise UserError("the run has no hit for any query with a relevant document", mend="check that run and judgments name queries alike")
    if not counts.queries:
        raise UserError("no query has a relevant document (a grade of at least 1), so there is nothing to average", mend="check the judgments")
    position = {query: i for i, query in enumerate(ranking)}
    columns = {measure: np.zeros(len(ranking)) for measure in wanted}
    # Ranks as scores: whatever breaks ties further down has none to break. Empty queries stay out and keep their 0.
    ranked = {query: {document: float(-rank) for rank, document in enumerate(documents)} for query, documents in ranking.items() if documents}
    grades = {query: {document: max(grade, 0) for document, grade in qrels[query].items()} for query in ranking}
    for metric in ir_measures.iter_calc(wanted, grades, ranked):
        columns[metric.measure][position[metric.query_id]] = metric.value
    judged = [
        sum(document in qrels[query] for document in documents[:10]) / len(documents[:10]) if documents else 0.0
        for query, documents in ranking.items()
    ]
    return Evaluation(list(ranking), {repr(measure): columns[measure] for measure in wanted}, np.array(judged), policy, counts)
