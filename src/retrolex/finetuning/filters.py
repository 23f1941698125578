"""Documents that are too good to be negatives: positives, copies of them, and what scores too close to the positive.

On MS MARCO most of what a retriever ranks above the labelled passage answers the question too (RocketQA, Qu et al. 2021, section
3.2), which is why a margin is worth the few hard negatives that it costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retrolex.finetuning.mined import MiningOptions
from retrolex.index.base import Hits


class Candidates(NamedTuple):
    """One pool's candidates for one pair, by rank.

    Attributes:
        positions, originals: of the documents, and of the first documents with the same texts; int64 [n].
        ranks, scores: in the pool; int64 [n], from 1, and float32 [n].
        too_close: hits that a margin took away.
        unjudged: hits and positives that a margin could not be applied to for want of a score, by reason.
    """

    positions: np.ndarray
    originals: np.ndarray
    ranks: np.ndarray
    scores: np.ndarray
    too_close: int
    unjudged: dict[str, int]


def candidates(
    hits: Hits, positive: int, known: np.ndarray, originals: np.ndarray, first: int, options: MiningOptions, teacher: Hits | None = None
) -> Candidates:
    """What may be a negative: no positive, no copy of one, every text once, nothing within a margin of the positive.

    Where the positive itself was not ranked (or not scored by the teacher), or a document has no teacher score, that margin
    takes nothing away, and `unjudged` says so.

    Args:
        hits: positions and scores, best first; a position below 0 is skipped, but has a rank.
        positive: original of the pair's positive.
        known: originals of all of the query's positives, int64.
        originals: position of the first document with the same text, by position.
        first: ranks above are skipped.
        options: the margins.
        teacher: positions and scores of the query by a teacher; None: it scored none of them.
    """
    positions, scores = hits
    ranks = np.arange(1, len(positions) + 1)
    here = positions >= 0
    positions, scores, ranks = positions[here], scores[here], ranks[here]
    texts = originals[positions]
    kept = (ranks >= first) & ~np.isin(texts, known) & _first_of_each(texts)
    close, unjudged = np.zeros(len(positions), bool), {}
    if options.absolute_margin is not None or options.relative_margin is not None:
        own = scores[texts == positive]
        if len(own):
            close |= scores > limit(float(own[0]), options.absolute_margin, options.relative_margin)
        else:
            unjudged["positive not ranked"] = 1
    if options.teacher_margin is not None:
        values = _looked_up(texts, teacher, originals)
        own = _looked_up(np.array([positive]), teacher, originals)
        if np.isnan(own[0]):
            unjudged["positive without a teacher score"] = 1
        else:
            close |= values > own[0] - options.teacher_margin
            if unscored := int(np.isnan(values[kept]).sum()):
                unjudged["hits without a teacher score"] = unscored
    taken = kept & ~close
    return Candidates(positions[taken], texts[taken], ranks[taken], scores[taken], int((kept & close).sum()), unjudged)


def limit(positive: float, absolute: float | None, relative: float | None) -> float:
    """The largest score that a negative may have: p - absolute, and p - relative * |p|, so that scores below 0 work too."""
    return min(positive - (absolute or 0.0), positive - (relative or 0.0) * abs(positive))


def _first_of_each(values: np.ndarray) -> np.ndarray:
    mask = np.zeros(len(values), bool)
    mask[np.unique(values, return_index=True)[1]] = True
    return mask


def _looked_up(texts: np.ndarray, teacher: Hits | None, originals: np.ndarray) -> np.ndarray:
    """The teacher's score of each original, its best over copies; NaN where it gave none."""
    found = np.full(len(texts), np.nan)
    if teacher is None:
        return found
    positions, scores = teacher
    here = positions >= 0
    scored, first = np.unique(originals[positions[here]], return_index=True)  # scores fall, so the first is the best
    if len(scored):
        places = np.minimum(np.searchsorted(scored, texts), len(scored) - 1)
        match = scored[places] == texts
        found[match] = scores[here][first][places[match]]
    return found
