"""Ids are strings: 7 and "7" are one query, and an id may hold spaces."""

from __future__ import annotations

from pathlib import Path

from retrolex.finetuning.formats import read_rows
from retrolex.finetuning.ranked import Ranked
from retrolex.index.run_rows import run_rows


def test_17_integer_ids(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"qid": 7, "pos": [1], "neg": {"bm25": [2]}}\n{"qid": "7", "pos": ["1"], "neg": {"bm25": ["2"]}}\n')
    one, other = read_rows(tmp_path / "rows.jsonl", "sbert")
    assert one == other and one.query_id == "7" and one.negatives[0].id == "2"


def test_25_ids_with_spaces_in_a_run(tmp_path: Path) -> None:
    (tmp_path / "run.tsv").write_text("query 7\tdoc 1\t3.5\nquery 7\tdoc 2\t1.5\n")
    ranked = Ranked.write(tmp_path / "hits", run_rows(tmp_path / "run.tsv"), {"doc 1": 0, "doc 2": 1}.get, {"query 7"})
    assert ranked["query 7"][0].tolist() == [0, 1]
