"""Measure a run against judgments, query by query; ir_measures and trec_eval do the arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
        judged: mean over the queries of the share of the first ten hits that have a judgment.
        policy: what the values were taken under.
        counts: what the policy met.
    """

    queries: list[str]
    values: dict[str, np.ndarray]
    judged: float
    policy: Policy
    counts: Counts

    @property
    def measures(self) -> list[str]:
        """Canonical names, in the order asked for."""
        return list(self.values)

    def mean(self, measure: str) -> float:
        """Average of a measure over the queries."""
        return float(self.values[measure].mean())

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
    wanted = parse_measures(measures)
    qrels = {str(query): {str(document): int(grade) for document, grade in judged.items()} for query, judged in qrels.items()}
    ranking, counts = apply_policy(run, qrels, policy)
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
    return Evaluation(list(ranking), {repr(measure): columns[measure] for measure in wanted}, float(np.mean(judged)), policy, counts)
