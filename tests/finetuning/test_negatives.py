"""Mined negatives against a slow twin, and the fills when there are too few."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrolex.errors import UserError
from retrolex.finetuning.negatives import NEGATIVES, MiningOptions, mine, read_negatives
from retrolex.finetuning.pairs import Pair, known_positives, originals
from retrolex.index.bm25 import BM25Index


def labelled_pair(query: str, document: str) -> Pair:
    return Pair(query, "text", document, document, "labelled")


PAIRS = [
    labelled_pair("carbon dioxide in the air", "d-climate"),
    labelled_pair("the load of the wing", "d-wing"),
    labelled_pair("heat snow", "d-climate"),
    labelled_pair("heat snow", "d-river"),
    labelled_pair("zzz unknown words", "d-bread"),
]


def mined(collection, folder: Path, **options):
    index = BM25Index.build(folder / "bm25", collection.ids, (document.full for document in collection))
    counts = mine(PAIRS, index.search, "bm25", collection.ids, originals(collection), folder, MiningOptions(**options))
    return index, counts, read_negatives(folder / NEGATIVES)


def test_no_negative_answers_the_query(collection, tmp_path: Path) -> None:
    _, counts, negatives = mined(collection, tmp_path, per_query=4)
    known = known_positives(PAIRS)
    for pair, rows in zip(PAIRS, negatives, strict=True):
        assert len(rows) == 4 and len({row.original for row in rows}) == 4
        assert not known[pair.query] & {row.original for row in rows}
    assert counts["pairs"] == 5 and counts["mined"] + counts["random"] == 20 and counts["repeats"] == 0
    assert counts["bm25 short: too few hits"] == 5  # the tiny collection shares few words with any query


def test_provenance_is_what_bm25_says(collection, tmp_path: Path) -> None:
    index, _, negatives = mined(collection, tmp_path, per_query=8)
    for pair, rows in zip(PAIRS, negatives, strict=True):
        scores = index.scores(pair.query)
        order = sorted(np.flatnonzero(scores > 0).tolist(), key=lambda position: (-scores[position], position))
        for row in rows:
            if row.miner == "bm25":
                assert collection.ids[order[row.rank - 1]] == row.document and row.score == pytest.approx(scores[order[row.rank - 1]], abs=1e-4)
            else:
                assert (row.miner, row.rank, row.score) == ("random", 0, 0.0)


def test_the_same_seed_gives_the_same_bytes(collection, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        mined(collection, tmp_path / name, per_query=2)
    assert (tmp_path / "a" / NEGATIVES).read_bytes() == (tmp_path / "b" / NEGATIVES).read_bytes()


def test_first_rank_leaves_out_what_stands_above(collection, tmp_path: Path) -> None:
    _, _, negatives = mined(collection, tmp_path, per_query=3, first=3)
    assert all(row.rank == 0 or row.rank >= 3 for rows in negatives for row in rows)


def test_a_collection_too_small_repeats_and_counts(collection, tmp_path: Path) -> None:
    _, counts, negatives = mined(collection, tmp_path, per_query=20)
    assert all(len(rows) == 20 for rows in negatives)
    assert counts["mined"] + counts["random"] + counts["repeats"] == 100 and counts["repeats"] > 0


def test_a_query_that_everything_answers(tmp_path: Path) -> None:
    index = BM25Index.build(tmp_path / "bm25", ["1"], ["one text"])
    with pytest.raises(UserError, match="every document answers"):
        mine([labelled_pair("one", "1")], index.search, "bm25", ["1"], np.array([0]), tmp_path, MiningOptions())
