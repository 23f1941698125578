"""Never worse than the start: how far to move from a start towards its adapted weights, decided on held-out pairs.

Held-out pseudo-queries are made like the ones trained on, so they flatter the adapted model. For a start that somebody tuned
on real questions they can even point the wrong way: a small SPLADE model adapted to 6,000 Python functions gained 0.04 nDCG@10 on
held-out pseudo-queries (p < 0.001) and lost 0.03 on people's questions (p < 0.001), every step of the way between. Hence:

1. Only differences that a paired test takes for real count. Among the models that are better than the start and as good as
   the best one, the nearest to the start wins; where none is better, the start.
2. A start that already works on this text (at least half the best model's nDCG@10) is left by a quarter of the way at most,
   unless the held-out pairs carry real labels. (Half the way still lost on real questions: .373 became .366 nDCG@10 on
   python-docs while the pseudo-queries rose from .475 to .527.) Halfway, measured losses on real questions are small and gains are possible.
3. A plain language model finds next to nothing, so neither rule holds it back: the adapted model wins by far.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.finetuning.interpolate import interpolate
from retrolex.finetuning.pairs import Pair, known_positives
from retrolex.index.base import Hits
from retrolex.progress import track

Encode = Callable[[list[str], str], Any]  # texts, "query" or "document" -> float32 [n, H], or a scipy CSR array [n, V]

GUARDED = "guard.json"  # what was chosen and why, in the winner's folder
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
SIGNIFICANT = 0.01
WORKING_START = 0.5  # share of the best model's nDCG@10 from which a start counts as a retriever already
FURTHEST_FROM_WORKING = 0.25  # the largest alpha for such a start


class Candidate(NamedTuple):
    """A document of the pool, under the id of the first document with the same text."""

    original: str
    text: str


@dataclass(frozen=True)
class Point:
    """One model on the way from the start (alpha 0) to the adapted one (alpha 1).

    Attributes:
        ndcg, rr: averages of nDCG@10 and RR@10 over the held-out pairs.
        p_start, p_best: two-sided p of a paired t test of nDCG@10 against the start, against the best model that may be chosen.
    """

    alpha: float
    ndcg: float
    rr: float
    p_start: float
    p_best: float


@dataclass(frozen=True)
class Choice:
    """The winner and why."""

    alpha: float
    reason: str
    curve: list[Point]
    pairs: int
    pool: int


def choose(
    start: str | Path, adapted: str | Path, held_out: Sequence[Pair], pool: Sequence[Candidate], encoder: Callable[[Path], Encode], folder: Path
) -> Choice:
    """Write the winner's model folder and ``guard.json`` into `folder`.

    Args:
        start, adapted: the two ends.
        held_out: pairs that nothing was trained on.
        pool: documents to tell the positives from, best chosen by a retriever's mistakes (`hard_pool`).
        encoder: from a model folder to its encode function.
        folder: where to write; candidates lie below it for the time being.

    Raises:
        UserError: no held-out pairs.
    """
    if not held_out:
        raise UserError("no held-out pairs to choose a model by", mend="make pairs of more than one document")
    models, values = {}, []
    for alpha in track(ALPHAS, "start or adapted"):
        models[alpha] = folder / "candidates" / f"{alpha:.2f}"
        interpolate(start, adapted, alpha, models[alpha])
        values.append(known_item(encoder(models[alpha]), held_out, pool))
    choice = decide(np.stack(values), labelled=all(pair.kind == "labelled" for pair in held_out), pool=len(pool))
    for path in sorted(models[choice.alpha].iterdir()):
        path.replace(folder / path.name)
    shutil.rmtree(folder / "candidates")
    write_json(folder / GUARDED, asdict(choice))
    return choice


def decide(values: np.ndarray, labelled: bool, pool: int) -> Choice:
    """Apply the rules above.

    Args:
        values: nDCG@10 and RR@10 of every alpha and held-out pair, [alphas, 2, pairs].
        labelled: whether the pairs are real labels.
        pool: documents that were ranked.
    """
    ndcg = values[:, 0]
    means = ndcg.mean(1)
    works = not labelled and means[0] >= WORKING_START * means.max()
    allowed = [i for i, alpha in enumerate(ALPHAS) if alpha <= FURTHEST_FROM_WORKING or not works]
    best = max(allowed, key=lambda i: means[i])
    p_start, p_best = [_paired(row, ndcg[0]) for row in ndcg], [_paired(row, ndcg[best]) for row in ndcg]
    better = [i for i in allowed if means[i] > means[0] and p_start[i] < SIGNIFICANT and (i == best or p_best[i] >= SIGNIFICANT)]
    chosen = better[0] if better else 0
    reason = "the nearest to the start of those as good as the best" if better else "none is better than the start beyond doubt"
    if works:
        reason += f"; at most {FURTHEST_FROM_WORKING} of the way, since the start works already"
    curve = [
        Point(alpha, round(float(row[0].mean()), 4), round(float(row[1].mean()), 4), round(start, 6), round(top, 6))
        for alpha, row, start, top in zip(ALPHAS, values, p_start, p_best, strict=True)
    ]
    return Choice(ALPHAS[chosen], reason, curve, values.shape[2], pool)


def known_item(encode: Encode, held_out: Sequence[Pair], pool: Sequence[Candidate]) -> np.ndarray:
    """nDCG@10 and RR@10 [2, pairs] of finding each pair's positive among all positives and the pool.

    Other positives of the query and copies of them are left out of its ranking. Of equal scores the positive's comes last,
    so that a model which tells nothing apart gains nothing.
    """
    documents = [*(Candidate(pair.original, pair.positive) for pair in held_out), *pool]
    queries = encode([pair.query for pair in held_out], "query")
    scores = queries @ encode([document.text for document in documents], "document").T
    scores = scores.toarray() if hasattr(scores, "toarray") else np.asarray(scores)
    known, originals = known_positives(held_out), np.array([document.original for document in documents], dtype=object)
    ranks = np.empty(len(held_out))
    for i, pair in enumerate(held_out):
        rivals = ~np.isin(originals, list(known[pair.query]))
        ranks[i] = 1 + np.count_nonzero(~(scores[i, rivals] < scores[i, i]))  # so written, a score that is no number loses too
    found = ranks <= 10
    return np.stack([np.where(found, 1 / np.log2(1 + ranks), 0.0), np.where(found, 1 / ranks, 0.0)])


def hard_pool(
    held_out: Sequence[Pair],
    search: Callable[[list[str], int], list[Hits]],
    size: int,
    ids: Sequence[str],
    originals: np.ndarray,
    text: Callable[[str], str],
) -> list[Candidate]:
    """The documents that a search confuses most with the held-out positives: first every query's best hit, then every second, ...

    Args:
        held_out: the pairs.
        search: query texts and depth to ranked positions; `BM25Index.search`, for one.
        size: documents at most.
        ids, originals: document ids, and positions of the first document with the same text.
        text: full text of a document id.
    """
    hits = [positions for positions, _ in search([pair.query for pair in held_out], 20)]
    taken, found = {pair.original for pair in held_out}, []
    for rank in range(max(map(len, hits), default=0)):
        for positions in hits:
            if rank < len(positions) and len(found) < size:
                original = ids[originals[positions[rank]]]
                if original not in taken:
                    taken.add(original)
                    found.append(Candidate(original, text(original)))
    return found


def _paired(one: np.ndarray, other: np.ndarray) -> float:
    """Two-sided p of the paired t test; 1 where it is not defined."""
    from scipy.stats import ttest_rel

    difference = one - other
    if len(one) < 2 or not difference.any():
        return 1.0
    return float(ttest_rel(one, other).pvalue) if difference.std() > 0 else 0.0
