"""Pain 7: duplicates in a batch make samplers slow, wrong in length, or hang. Here they are masked, and the batches stay."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoTokenizer

from retrolex.backbones import Spec
from retrolex.finetuning.batches import Batches
from retrolex.finetuning.losses import info_nce
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.pairs import Pair


def test_7_in_batch_duplicates_neither_hang_nor_count(tiny_model_folder: Path) -> None:
    """Ten queries with one positive in common: all are seen, in batches of the stated number, none as another's negative."""
    pairs = [Pair(f"query {i}", "the one text", "d", "d", "labelled") for i in range(10)]
    negatives = [[Negative("n", "n", "bm25", 1, 1.0)]] * 10
    tokenizer = AutoTokenizer.from_pretrained(tiny_model_folder)
    batches = Batches(pairs, negatives, lambda id: "another text", tokenizer, Spec(), queries=5, hard=1, token_budget=512, seed=0)
    assert len(batches) == 2 and sorted(batches.chosen(0) + batches.chosen(1)) == list(range(10))
    mask = batches(0)["excluded"]
    documents = torch.eye(2).repeat(5, 1)
    assert mask.sum() == 5 * 4  # each query: the four other copies of its positive
    loss = info_nce(torch.eye(2)[:1].repeat(5, 1), documents, excluded=mask)
    negatives_only = torch.log(1 + 5 * torch.exp(torch.tensor(-1.0)))
    torch.testing.assert_close(loss, negatives_only)
