"""False negatives, as a cross-encoder sees them: documents that it scores close to the positive answer the query, whatever the judgments say.

It is too slow to read a whole ranking. So a pair is given more candidates than it needs, these are scored, and the negatives are drawn
from those that lie far enough below the positive (RocketQA, Qu et al. 2021, section 3.2, where a threshold takes the place of the margin).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from retrolex.errors import UserError
from retrolex.finetuning.choosing import random_negatives
from retrolex.finetuning.mined import Negative
from retrolex.finetuning.pairs import Pair, known_positives

SPARE = 2  # candidates that are scored for every negative that is kept


def without_false_negatives(
    pairs: Sequence[Pair],
    candidates: Sequence[Sequence[Negative]],
    scores: np.ndarray,
    margin: float,
    per_query: int,
    ids: Sequence[str],
    originals: np.ndarray,
    known: Mapping[str, set[str]],
    seed: int,
) -> tuple[list[list[Negative]], dict[str, int]]:
    """Exactly `per_query` negatives a pair, none of them within `margin` of the positive's score; random documents fill the gaps.

    Args:
        pairs, candidates: what was mined, one list a pair, by pool and rank.
        scores: of every pair's positive and then of its candidates, float32 [pairs, 1 + candidates].
        margin: a negative scores at least so much below the positive.
        ids, originals: document ids, and positions of the first document with the same text.
        known: query text -> originals that answer it, besides those of `pairs`.
        seed: of the sample.

    Returns:
        The negatives in the candidates' order, the random ones last (those nobody has scored); and how many candidates there were, were too
        close, were missing, or had to be repeated.

    Raises:
        UserError: not a single document is left for a query.
    """
    answers = {query: found | known.get(query, set()) for query, found in known_positives(pairs).items()}
    wanted = set().union(*answers.values(), (negative.original for found in candidates for negative in found))
    places = {id: position for position, id in enumerate(ids) if id in wanted}
    counts = Counter({"candidates": 0, "false negatives": 0, "filled with random": 0, "repeats": 0})
    chosen = []
    for number, (pair, found, row) in enumerate(zip(pairs, candidates, scores, strict=True)):
        distinct = {negative.original: (negative, score) for negative, score in zip(found, row[1:].tolist(), strict=True)}
        far = [negative for negative, score in distinct.values() if score <= row[0] - margin]
        rng = random.Random(f"{seed}:{number}")
        kept = [far[place] for place in sorted(rng.sample(range(len(far)), min(per_query, len(far))))]
        taken = {places[id] for id in (*answers[pair.query], *distinct) if id in places}
        blind = random_negatives(per_query - len(kept), rng, ids, originals, taken)
        kept += blind
        if not kept and per_query:
            what = f"the teacher scores every document within {margin:g} of the answer to {pair.query!r}"
            raise UserError(what, mend="lower teacher_margin, or add documents")
        counts.update({"candidates": len(distinct), "false negatives": len(distinct) - len(far), "filled with random": len(blind)})
        counts["repeats"] += per_query - len(kept)
        chosen.append([kept[place % len(kept)] for place in range(per_query)])
    return chosen, {"pairs": len(pairs), **counts}
