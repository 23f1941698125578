"""Which candidates become negatives: an even share of every pool, and what fills the gaps where a pool has too few."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np

from retrolex.finetuning.filters import Candidates
from retrolex.finetuning.mined import RANDOM, MiningOptions, Negative


def choose_negatives(
    pools: Sequence[tuple[str, Candidates | None]],
    known: set[int],
    ids: Sequence[str],
    originals: np.ndarray,
    rng: random.Random,
    options: MiningOptions,
    counts: Counter[str],
) -> list[Negative]:
    """Up to `options.per_query` negatives of one pair, by pool and rank, the random ones last.

    Every pool gives an even share (the first pools one more where it does not divide). What a pool lacks comes from the next
    pool that has candidates left, then from random documents. `counts` is told how many came from where, and of every pool that
    had too few, why.

    Args:
        pools: name and candidates; None for a query that the pool was never asked.
        known: originals of the query's positives.
        ids, originals: of the documents, see `filters.candidates`.
        rng: of this pair alone.
    """
    taken, chosen = set(known), []
    quotas = [options.per_query // len(pools) + (number < options.per_query % len(pools)) for number in range(len(pools))]
    lacking = 0
    for (name, found), quota in zip(pools, quotas, strict=True):
        drawn = _draw(name, found, quota, taken, ids, originals, rng, options.sampling)
        chosen.append(drawn)
        if len(drawn) < quota:
            lacking += quota - len(drawn)
            close = found.too_close if found else 0
            reason = "query not in it" if found is None else "too close to the positive" if len(drawn) + close >= quota else "too few hits"
            counts[f"{name} short: {reason}"] += 1
    counts["mined"] += sum(map(len, chosen))
    for number, (name, found) in enumerate(pools):
        fill = _draw(name, found, lacking, taken, ids, originals, rng, options.sampling)
        chosen[number] = sorted(chosen[number] + fill, key=lambda negative: negative.rank)
        lacking -= len(fill)
        if fill:
            counts["mined"] += len(fill)
            counts[f"filled from {name}"] += len(fill)
    blind = random_negatives(lacking, rng, ids, originals, taken)
    counts["random"] += len(blind)
    if len(pools) > 1:
        for (name, _), drawn in zip(pools, chosen, strict=True):
            counts[f"from {name}"] += len(drawn)
    return [negative for drawn in chosen for negative in drawn] + blind


def random_negatives(count: int, rng: random.Random, ids: Sequence[str], originals: np.ndarray, taken: set[int]) -> list[Negative]:
    """Up to `count` blindly drawn documents whose text is not taken yet; fewer only where there are no more."""
    found: list[Negative] = []
    if count <= 0:
        return found
    seen, size = set(taken), len(ids)
    for order in (rng.sample(range(size), min(size, count + 4 * len(seen) + 64)), range(size)):  # the whole collection if a sample will not do
        for position in order:
            original = int(originals[position])
            if original not in seen:
                seen.add(original)
                found.append(Negative(ids[position], ids[original], RANDOM, 0, 0.0))
                if len(found) == count:
                    return found
    return found


def _draw(
    name: str, found: Candidates | None, count: int, taken: set[int], ids: Sequence[str], originals: np.ndarray, rng: random.Random, sampling: str
) -> list[Negative]:
    """Up to `count` of a pool's candidates by rank; their texts become taken."""
    if found is None or count <= 0:
        return []
    free = np.flatnonzero(~np.isin(found.originals, list(taken)))
    size = min(count, len(free))
    places = free[:size] if sampling == "top" else free[sorted(rng.sample(range(len(free)), size))]
    taken.update(found.originals[places].tolist())
    return [
        Negative(ids[position], ids[originals[position]], name, rank, round(score, 4))
        for position, rank, score in zip(found.positions[places].tolist(), found.ranks[places].tolist(), found.scores[places].tolist(), strict=True)
    ]
