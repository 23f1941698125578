"""Batches: every text in its row, within the budget, the same for the same number; the mask against a loop."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from retrolex.backbones import Spec
from retrolex.finetuning.batches import Batches, excluded
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.pairs import Pair
from retrolex.tokens import Tokens, tokenize
from retrolex.tokens.framing import Framing

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
    originals = ["a", "x", "b", "a", "a", "c", "d", "b"]
    own = [0, 2, 4]
    mask = excluded(positives, originals, torch.tensor(own))
    for i, known in enumerate(positives):
        for j, original in enumerate(originals):
            assert mask[i, j].item() == (original in known and j != own[i])


def test_other_positives_of_a_query_and_copies_of_them_are_never_its_negatives(tiny_model_folder) -> None:
    copies = {**TEXTS, "d5": TEXTS["d1"]}  # d5 has the text of d1
    first = {"d5": "d1"}
    asked = {"d0": "q", "d1": "q", "d2": "q2", "d3": "q3"}
    pairs = [Pair(query, copies[document], document, document, "labelled") for document, query in asked.items()]
    negatives = [[negative("d2")], [negative("d3")], [Negative("d5", "d1", "bm25", 1, 1.0)], [negative("d0")]]
    tokenizer = AutoTokenizer.from_pretrained(tiny_model_folder)
    made = Batches(pairs, negatives, copies.__getitem__, tokenizer, Spec(document_length=12), queries=4, hard=1, token_budget=99, seed=1)
    for number in range(3):
        batch, chosen = made(number), made.chosen(number)
        documents = [document for i in chosen for document in (pairs[i].document, negatives[i][0].document)]
        for row, i in enumerate(chosen):
            answers = {pair.original for pair in pairs if pair.query == pairs[i].query}
            for column, document in enumerate(documents):
                assert batch["excluded"][row, column].item() == (first.get(document, document) in answers and column != 2 * row)
            assert batch["own"][row] == 2 * row


def test_processes_share_one_large_batch(tiny_model_folder, batches: Batches) -> None:
    rest = (batches.text, batches.tokenizer, batches.spec)
    one = Batches(batches.pairs, batches.negatives, *rest, queries=6, hard=2, token_budget=24, seed=1)
    two = Batches(batches.pairs, batches.negatives, *rest, queries=3, hard=2, token_budget=24, seed=1, processes=2)
    whole, shares = one(0), [two(0), two(1)]
    assert torch.equal(whole["excluded"], torch.cat([share["excluded"] for share in shares]))
    assert torch.equal(whole["own"], torch.cat([share["own"] for share in shares]))
    assert one.groups(0) == two.groups(0) + two.groups(1)


def test_a_teachers_scores_follow_their_documents(batches: Batches) -> None:
    batches.teacher = np.arange(24, dtype=np.float32).reshape(6, 4)
    for number in range(4):
        scores = batches(number)["teacher"]
        for row, (pair, picked) in zip(scores.tolist(), batches.groups(number), strict=True):
            assert row == [4 * pair, *(4 * pair + 1 + j for j in picked)]


def test_parts_hold_texts_of_similar_length(batches: Batches) -> None:
    batches.token_budget = 10_000
    encoded = batches.encoded([" ".join(["snow"] * n) for n in (1, 2, 5, 6, 7, 8)], 12)
    lengths = [part["attention_mask"].sum(1).tolist() for part in encoded["parts"]]
    assert all(min(part) >= 0.75 * max(part) for part in lengths) and len(lengths) == 3


def test_cached_documents_are_what_their_texts_give(batches: Batches, tmp_path) -> None:
    tokenize(list(TEXTS.values()), batches.tokenizer, tmp_path)
    tokens, asked = Tokens.open(tmp_path), []
    framing = Framing(batches.tokenizer, "", batches.spec.document_length)
    assert framing.reads(tokens)

    def cached(id: str) -> list[int]:
        asked.append(id)
        return framing.framed(tokens[list(TEXTS).index(id)])

    for number in range(4):
        batches.cached = None
        expected = batches(number)["documents"]
        batches.cached = cached
        found = batches(number)["documents"]
        assert found["rows"].tolist() == expected["rows"].tolist()
        for part, other in zip(found["parts"], expected["parts"], strict=True):
            assert all(torch.equal(part[name], other[name]) for name in ("input_ids", "attention_mask"))
    assert set(asked) == set(TEXTS)
