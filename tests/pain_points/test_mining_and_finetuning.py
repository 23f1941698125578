"""What users of other tools run into when they mine negatives and fine-tune; the numbers are those of the list of pain points."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from retrolex.backbones import Spec
from retrolex.collection import Collection, import_collection
from retrolex.finetuning.batches import Batches, excluded
from retrolex.finetuning.losses import info_nce
from retrolex.finetuning.negatives import NEGATIVES, MiningOptions, Negative, mine, read_negatives
from retrolex.finetuning.pairs import HELD_OUT, TRAIN, Pair, known_positives, read_pairs
from retrolex.finetuning.pseudo_queries import PairOptions, make_pairs
from retrolex.index.bm25 import BM25Index


def pair(query: str, document: str) -> Pair:
    return Pair(query, f"text of {document}", document, document, "labelled")


def test_4_mining_keeps_memory_flat(tmp_path: Path) -> None:
    """Mining holds one query's candidates at a time, whatever the number of queries."""
    ids = [f"d{i}" for i in range(2000)]
    index = BM25Index.build(tmp_path, ids, [f"word{i % 50} word{i % 7} word{i}" for i in range(2000)])
    peaks = []
    for count in (50, 300):
        pairs = [pair(f"word{i % 50} word{i % 7}", ids[i]) for i in range(count)]
        tracemalloc.start()
        mine(pairs, index.search, "bm25", ids, np.arange(2000), tmp_path, MiningOptions(per_query=2))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 1_000_000


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


def test_6_any_retriever_can_mine(tmp_path: Path) -> None:
    """A miner is a name and a search function: dense, lexicon or BM25."""

    def search(queries: list[str], k: int) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(np.array([2, 0, 1])[:k], np.array([3.0, 2.0, 1.0], dtype=np.float32)[:k]) for _ in queries]

    counts = mine([pair("q", "d2")], search, "lexicon", ["d0", "d1", "d2"], np.arange(3), tmp_path, MiningOptions(per_query=2))
    rows = read_negatives(tmp_path / NEGATIVES)[0]
    assert counts["mined"] == 2 and [(row.document, row.miner, row.rank) for row in rows] == [("d0", "lexicon", 2), ("d1", "lexicon", 3)]


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


def test_19_a_query_without_a_relevant_document_trains_nothing(tmp_path: Path) -> None:
    (tmp_path / "source/qrels").mkdir(parents=True)
    (tmp_path / "collection").mkdir()
    rows = [{"_id": f"d{i}", "text": f"text number {i}"} for i in range(4)]
    (tmp_path / "source/corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "source/queries.jsonl").write_text("".join(json.dumps({"_id": f"q{i}", "text": f"query {i}"}) + "\n" for i in range(4)))
    (tmp_path / "source/qrels/train.tsv").write_text("query-id\tcorpus-id\tscore\nq0\td0\t0\nq1\td1\t1\nq2\td2\t1\nq3\td3\t2\n")
    import_collection(tmp_path / "source", tmp_path / "collection")
    counts = make_pairs(Collection.open(tmp_path / "collection"), tmp_path, PairOptions())
    made = read_pairs(tmp_path / TRAIN) + read_pairs(tmp_path / HELD_OUT)
    assert {pair.query for pair in made} == {"query 1", "query 2", "query 3"} and counts["skipped"] == 0


def test_28_one_letter_words_digits_and_marks_are_kept(tmp_path: Path) -> None:
    index = BM25Index.build(tmp_path, ["a", "b", "c"], ["cafe\u0301 C R 5G", "Queen 's", "हिन्दी"], language="other")
    for query, position in (("café", 0), ("R", 0), ("5g", 0), ("s", 1), ("हिन्दी", 2)):
        assert index.search([query], 1)[0][0].tolist() == [position], query


def test_27_more_hits_asked_than_documents(tmp_path: Path) -> None:
    index = BM25Index.build(tmp_path, ["a", "b"], ["one fish", "two fish"])
    assert [len(positions) for positions, _ in index.search(["fish", "unicorn"], 10)] == [2, 0]


def test_mining_is_fast(tmp_path: Path) -> None:
    """A thousand queries over a thousand documents take well under ten seconds on any machine."""
    ids = [f"d{i}" for i in range(1000)]
    index = BM25Index.build(tmp_path, ids, [" ".join(f"w{(i * j) % 499}" for j in range(1, 60)) for i in range(1000)])
    pairs = [pair(f"w{i % 499} w{(3 * i) % 499} w{(7 * i) % 499}", ids[i]) for i in range(1000)]
    started = time.perf_counter()
    mine(pairs, index.search, "bm25", ids, np.arange(1000), tmp_path, MiningOptions())
    assert time.perf_counter() - started < 10
