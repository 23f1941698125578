"""Only pseudo-queries whose document some retriever finds again, and every one that goes is counted and named."""

from __future__ import annotations

import json

import numpy as np
import pytest

from retrolex.errors import UserError
from retrolex.finetuning.pairs import HELD_OUT, SKIPPED, TRAIN, Pair, originals, read_pairs
from retrolex.finetuning.pseudo_queries import PairOptions, make_pairs
from retrolex.finetuning.round_trip import found_again
from retrolex.index.bm25 import BM25Index


def fixed(*positions: int):
    return lambda texts, depth: [(np.array(positions[:depth], np.int64), np.zeros(min(depth, len(positions)), np.float32)) for _ in texts]


def test_any_retriever_will_do_and_a_copy_counts() -> None:
    pair, ids, first = Pair("q", "text", "a", "a", "cloze"), ["a", "b", "c"], np.array([0, 1, 0])
    assert found_again(pair, {"bm25": fixed(1, 0), "dense": fixed(0)}, 1, ids, first) == "dense"
    assert found_again(pair, {"bm25": fixed(1, 2)}, 2, ids, first) == "bm25"  # c has a's text
    assert found_again(pair, {"bm25": fixed(1, 2)}, 1, ids, first) is None
    assert found_again(pair, {"bm25": fixed()}, 5, ids, first) is None


def test_the_filter_keeps_what_bm25_finds(collection, tmp_path) -> None:
    index, first = BM25Index.build(tmp_path / "bm25", collection.ids, (document.full for document in collection)), originals(collection)
    counts = make_pairs(collection, tmp_path, PairOptions(count=20, round_trip=1), searches={"bm25": index.search})
    pairs = read_pairs(tmp_path / TRAIN) + read_pairs(tmp_path / HELD_OUT)
    assert counts["found again by bm25"] == len(pairs)
    for pair in pairs:
        best = index.search([pair.query], 1)[0][0]
        assert [collection.ids[first[position]] for position in best] == [pair.original]


def test_what_is_not_found_is_named(collection, tmp_path) -> None:
    """A retriever that knows but two documents."""
    counts = make_pairs(collection, tmp_path, PairOptions(count=3, round_trip=2), searches={"poor": fixed(0, 1)})
    lost = [json.loads(line) for line in (tmp_path / SKIPPED).read_text(encoding="utf-8").splitlines()]
    assert counts["not found again"] == counts["skipped"] == len(lost) > 0
    assert all(row["reason"] == "no retriever finds the document again among its first 2" and row["query"] for row in lost)
    assert {pair.document for pair in read_pairs(tmp_path / TRAIN) + read_pairs(tmp_path / HELD_OUT)} == set(collection.ids[:2])


def test_a_filter_needs_a_retriever(collection, tmp_path) -> None:
    with pytest.raises(UserError, match="round-trip filter without a retriever"):
        make_pairs(collection, tmp_path, PairOptions(round_trip=1))


def test_off_by_default(collection, tmp_path) -> None:
    assert not any("found" in name for name in make_pairs(collection, tmp_path, PairOptions(), searches={"poor": fixed()}))
