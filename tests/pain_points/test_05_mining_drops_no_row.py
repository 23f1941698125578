"""Pain 5: mining drops rows silently where there are too few negatives. Here every pair stays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrolex.finetuning.negatives import NEGATIVES, MiningOptions, mine, read_negatives
from retrolex.finetuning.pairs import Pair
from retrolex.index.bm25 import BM25Index


def pair(query: str, document: str) -> Pair:
    return Pair(query, f"text of {document}", document, document, "labelled")


@pytest.mark.parametrize("wanted", [2, 5])
def test_5_no_row_is_dropped_by_mining(tmp_path: Path, wanted: int) -> None:
    """Three pairs stay three rows, also where the collection has fewer negatives than were asked for."""
    texts = ["a wing in flight", "a bone in the body", "a file on the disk"]
    ids = ["d0", "d1", "d2"]
    index = BM25Index.build(tmp_path, ids, texts)
    pairs = [pair(text, id) for id, text in zip(ids, texts, strict=True)]
    counts = mine(pairs, index.search, "bm25", ids, np.arange(3), tmp_path, MiningOptions(per_query=wanted))
    rows = read_negatives(tmp_path / NEGATIVES)
    assert [len(row) for row in rows] == [wanted] * 3
    assert counts["mined"] + counts["random"] + counts["repeats"] == 3 * wanted
    assert all(negative.document != pair.document for pair, row in zip(pairs, rows, strict=True) for negative in row)
