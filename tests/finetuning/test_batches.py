"""Batches: every text in its row, within the budget, the same for the same number; the mask against a loop."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoTokenizer

from retrolex.backbones import Spec
from retrolex.finetuning.batches import Batches, excluded
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.pairs import Pair

TEXTS = {
    "d0": "the wing carries the load",
    "d1": "vitamin d keeps bones strong in old age",
    "d2": "read a file",
    "d3": "snow",
    "d4": "the river floods the plain each spring when the snow melts",
}


def negative(document: str) -> Negative:
    return Negative(document, document, "bm25", 1, 1.0)


@pytest.fixture
def batches(tiny_model_folder) -> Batches:
    pairs = [Pair(f"query {i}", TEXTS[f"d{i}"], f"d{i}", f"d{i}", "cloze") for i in range(5)] + [Pair("query 0", TEXTS["d1"], "d1", "d1", "cloze")]
    negatives = [[negative(f"d{(i + j) % 5}") for j in (1, 2, 3)] for i in range(5)] + [[negative(f"d{j}") for j in (2, 3, 4)]]
    tokenizer = AutoTokenizer.from_pretrained(tiny_model_folder)
    return Batches(pairs, negatives, TEXTS.__getitem__, tokenizer, Spec(document_length=12), queries=3, hard=2, token_budget=24, seed=1)


def test_every_row_is_its_text(batches: Batches) -> None:
    texts = ["snow", "the wing carries the load", "snow", "read a file", "vitamin d keeps bones strong in old age"]
    encoded = batches.encoded(texts, 12)
    rows = [row[mask.bool()].tolist() for part in encoded["parts"] for row, mask in zip(part["input_ids"], part["attention_mask"], strict=True)]
    assert [rows[row] for row in encoded["rows"]] == batches.tokenizer(texts, truncation=True, max_length=12)["input_ids"]
    assert len(rows) == 4  # the repeated text goes through the encoder once
    assert all(part["input_ids"].numel() <= 24 or len(part["input_ids"]) == 1 for part in encoded["parts"])
    assert [len(row) for row in rows] == sorted(map(len, rows), reverse=True)


def test_a_pass_holds_every_pair_once_and_passes_differ(batches: Batches) -> None:
    first, second = [batches.chosen(0) + batches.chosen(1), batches.chosen(2) + batches.chosen(3)]
    assert sorted(first) == sorted(second) == list(range(6)) and first != second


def test_a_batch_follows_from_its_number(batches: Batches) -> None:
    one, two = batches(3), batches(3)
    assert torch.equal(one["excluded"], two["excluded"]) and torch.equal(one["documents"]["rows"], two["documents"]["rows"])
    for a, b in zip(one["documents"]["parts"], two["documents"]["parts"], strict=True):
        assert torch.equal(a["input_ids"], b["input_ids"])
    assert one["excluded"].shape == (3, 9)


def test_excluded_against_a_loop() -> None:
    positives = [{"a"}, {"b", "c"}, {"a"}]
    originals = ["a", "x", "b", "a", "a", "c"]
    mask = excluded(positives, originals)
    for i, known in enumerate(positives):
        for j, original in enumerate(originals):
            assert mask[i, j].item() == (original in known and j != 2 * i)


def test_parts_hold_texts_of_similar_length(batches: Batches) -> None:
    batches.token_budget = 10_000
    encoded = batches.encoded([" ".join(["snow"] * n) for n in (1, 2, 5, 6, 7, 8)], 12)
    lengths = [part["attention_mask"].sum(1).tolist() for part in encoded["parts"]]
    assert all(min(part) >= 0.75 * max(part) for part in lengths) and len(lengths) == 3
