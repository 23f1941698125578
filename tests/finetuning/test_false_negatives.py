"""Negatives that a cross-encoder takes for answers are left out, by a loop; gaps are filled and counted."""

from __future__ import annotations

import numpy as np
import pytest

from retrolex.errors import UserError
from retrolex.finetuning.false_negatives import without_false_negatives
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.pairs import Pair

IDS = [f"d{i}" for i in range(12)]
ORIGINALS = np.array([*range(11), 3])  # d11 is a copy of d3
PAIRS = [Pair("first", "text", "d0", "d0", "labelled"), Pair("second", "text", "d1", "d1", "labelled")]
FOUND = [[Negative(id, id, "bm25", rank, 1.0) for rank, id in enumerate(row.split(), 1)] for row in ("d2 d3 d4 d5", "d3 d6 d7 d7")]
SCORES = np.array([[5, 4.9, 1, 3, 2], [0, -0.5, -0.9, 1, 1]], np.float32)


def filtered(margin: float, per_query: int, ids=IDS, originals=ORIGINALS, known=None, seed: int = 0):
    return without_false_negatives(PAIRS, FOUND, SCORES, margin, per_query, ids, originals, known or {}, seed)


@pytest.mark.parametrize("margin", [0.0, 0.6, 2.0, 3.0])
def test_what_is_kept_lies_far_enough_below_the_positive(margin: float) -> None:
    chosen, counts = filtered(margin, 2)
    for row, found, kept in zip(SCORES, FOUND, chosen, strict=True):
        scores = {negative.original: score for negative, score in zip(found, row[1:], strict=True)}
        far = {id for id, score in scores.items() if score <= row[0] - margin}
        mined = [negative.original for negative in kept if negative.miner == "bm25"]
        assert len(kept) == 2 and set(mined) <= far and len(mined) == min(2, len(far)) == len(set(mined))
        assert not {negative.original for negative in kept if negative.miner == "random"} & ({"d0", "d1"} | set(scores))
    assert counts["pairs"] == 2 and counts["candidates"] == 7  # a repeated candidate counts once
    assert counts["filled with random"] == sum(negative.miner == "random" for kept in chosen for negative in kept)


def test_the_order_is_the_candidates_and_the_sample_follows_from_the_seed() -> None:
    chosen, _ = filtered(0.0, 2)
    assert [negative.rank for negative in chosen[0]] == sorted(negative.rank for negative in chosen[0])
    assert filtered(0.0, 2)[0] == chosen and any(filtered(0.0, 2, seed=seed)[0] != chosen for seed in range(1, 6))


def test_repeats_where_there_is_nothing_else_and_an_error_where_there_is_nothing() -> None:
    ids, known = IDS[:8], {"first": {"d1"}, "second": {"d0"}}
    chosen, counts = filtered(3.5, 5, ids, np.arange(8), known)
    assert [len(set(row)) for row in chosen] == [3, 3] and [len(row) for row in chosen] == [5, 5]  # d3, d6, d7; d2, d4, d5
    assert counts["repeats"] == 4
    known = {pair.query: {"d0", "d1", *(set(ids) - {negative.original for negative in found})} for pair, found in zip(PAIRS, FOUND, strict=True)}
    with pytest.raises(UserError, match="within 9 of the answer to 'first'"):
        filtered(9.0, 2, ids, np.arange(8), known)
