"""One order for every measure: a run brought under the policy before it is measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from retrolex.errors import UserError
from retrolex.evaluation.policy import Counts, Policy

if TYPE_CHECKING:
    from retrolex.collection.documents import Qrels
    from retrolex.index.base import Run


def order(documents: list[str], scores: np.ndarray, ties: str = "descending") -> tuple[list[str], bool]:
    """Documents by falling score, equal ones as `ties` says, and whether any scores were equal.

    Args:
        documents: ids, in any order.
        scores: (documents,) float32: trec_eval holds scores in single precision, and so decides there what is a tie.
        ties: see `Policy`.
    """
    if (scores[1:] < scores[:-1]).all():  # most runs come sorted and without ties, and stay as they are
        return documents, False
    ranked = list(zip(scores.tolist(), documents, strict=True))
    if ties != "run":
        ranked.sort(key=lambda hit: hit[1], reverse=ties == "descending")
    ranked.sort(key=lambda hit: -hit[0])  # stable: equal scores stay in the order they have
    return [document for _, document in ranked], any(a[0] == b[0] for a, b in pairwise(ranked))


def apply_policy(run: Run, qrels: Qrels, policy: Policy) -> tuple[dict[str, list[str]], Counts]:
    """Document ids of every measured query in their final order, and what was counted on the way. The run is left untouched.

    Args:
        run: query id -> (document id, score) pairs in any order; a mapping of document id to score does as well.
        qrels: query id -> document id -> grade; ids are `str`.
        policy: what to drop.

    Raises:
        UserError: a document occurs twice for a query, or a score is not a number.
    """
    run = {str(query): hits for query, hits in run.items()}
    measured = [query for query, judged in qrels.items() if any(grade >= 1 for grade in judged.values())]
    ranking: dict[str, list[str]] = {}
    tied = zeros = selves = 0
    answered = 0
    for query in measured:
        documents, scores = _columns(query, run.get(query, ()))
        if policy.zero_scores == "drop" and (scores == 0).any():
            zeros += int((scores == 0).sum())
            documents, scores = [d for d, score in zip(documents, scores, strict=True) if score != 0], scores[scores != 0]
        if policy.self_hits == "remove" and query in documents and qrels[query].get(query, 0) < 1:
            selves += 1
            scores = np.delete(scores, documents.index(query))
            documents.remove(query)
        if not documents and policy.missing == "exclude":
            continue
        with np.errstate(over="ignore"):  # beyond single precision all are infinite, and tied, as in trec_eval
            single = scores.astype(np.float32)
        documents, ties = order(documents, single, policy.ties)
        ranking[query], tied, answered = documents[: policy.depth], tied + ties, answered + bool(documents)
    counts = Counts(
        queries=len(ranking),
        missing=len(ranking) - answered,
        unanswered=len(measured) - len(ranking),
        without_relevant=len(qrels) - len(measured),
        unjudged=sum(query not in qrels for query in run),
        tied=tied,
        zero_scores_dropped=zeros,
        self_hits_removed=selves,
    )
    return ranking, counts


def _columns(query: str, hits: Iterable[tuple[str, float]] | Mapping[str, float]) -> tuple[list[str], np.ndarray]:
    """A query's hits as a new list of `str` ids and their scores (float64), checked."""
    pairs = list(hits.items() if isinstance(hits, Mapping) else hits)
    documents = [str(document) for document, _ in pairs]
    scores = np.array([score for _, score in pairs], dtype=np.float64)
    if len(set(documents)) < len(documents):
        twice = next(document for i, document in enumerate(documents) if document in documents[:i])
        raise UserError(f"query {query!r}: the run names document {twice!r} twice", mend="keep one hit a document, the best")
    if np.isnan(scores).any():
        raise UserError(f"query {query!r}: a score is not a number (NaN)", mend="find out why the retriever scores so; NaN has no rank")
    return documents, scores
