"""Pain 8: other positives of a query are taken for negatives. Here they never are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from retrolex.finetuning.batches import excluded
from retrolex.finetuning.negatives import NEGATIVES, MiningOptions, mine, read_negatives
from retrolex.finetuning.pairs import Pair, known_positives
from retrolex.index.bm25 import BM25Index


def pair(query: str, document: str) -> Pair:
    return Pair(query, f"text of {document}", document, document, "labelled")


def test_8_another_positive_is_never_a_negative(tmp_path: Path) -> None:
    """q1 has d1 and d2: neither mining nor the batch may use d2 against it, nor a copy of d2."""
    ids, texts = ["d1", "d2", "d3", "d4"], ["wing load", "wing lift", "wing area", "wing lift"]
    first = np.array([0, 1, 2, 1])
    index = BM25Index.build(tmp_path, ids, texts)
    pairs = [pair("wing", "d1"), pair("wing", "d2"), pair("other", "d3")]
    mine(pairs, index.search, "bm25", ids, first, tmp_path, MiningOptions(per_query=3))
    assert {negative.document for row in read_negatives(tmp_path / NEGATIVES)[:2] for negative in row} == {"d3"}
    mask = excluded([known_positives(pairs)["wing"]], ["d1", "d2", "d3"], torch.tensor([0]))
    assert mask.tolist() == [[False, True, False]]
