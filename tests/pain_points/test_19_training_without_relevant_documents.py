"""Pain 19: a query with no relevant document spoils what comes after it. Here it trains nothing."""

from __future__ import annotations

import json
from pathlib import Path

from retrolex.collection import Collection, import_collection
from retrolex.finetuning.pairs import HELD_OUT, TRAIN, read_pairs
from retrolex.finetuning.pseudo_queries import PairOptions, make_pairs


def test_19_a_query_without_a_relevant_document_trains_nothing(tmp_path: Path) -> None:
    (tmp_path / "source/qrels").mkdir(parents=True)
    (tmp_path / "collection").mkdir()
    rows = [{"_id": f"d{i}", "text": f"text number {i}"} for i in range(4)]
    (tmp_path / "source/corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "source/queries.jsonl").write_text("".join(json.dumps({"_id": f"q{i}", "text": f"query {i}"}) + "\n" for i in range(4)))
    (tmp_path / "source/qrels/train.tsv").write_text("query-id\tcorpus-id\tscore\nq0\td0\t0\nq1\td1\t1\nq2\td2\t1\nq3\td3\t2\n")
    import_collection(tmp_path / "source", tmp_path / "collection")
    counts = make_pairs(Collection.open(tmp_path / "collection"), tmp_path, PairOptions(fill=0))
    made = read_pairs(tmp_path / TRAIN) + read_pairs(tmp_path / HELD_OUT)
    assert {pair.query for pair in made} == {"query 1", "query 2", "query 3"} and counts["skipped"] == 0
