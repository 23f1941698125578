"""Streamed runs equal the runs that evaluation reads, and damage is named with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrolex.errors import UserError
from retrolex.evaluation.runs import read_run, write_run
from retrolex.finetuning.ranked import Ranked
from retrolex.index.run_rows import run_rows

ids = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=5)
scores = st.floats(-1e6, 1e6, width=32)
runs = st.dictionaries(ids, st.dictionaries(ids, scores, min_size=1, max_size=6), min_size=1, max_size=5)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs, st.sampled_from(["run.trec", "run.jsonl"]))
def test_equals_read_run(tmp_path: Path, run, name: str) -> None:
    write_run(tmp_path / name, {query: sorted(hits.items(), key=lambda hit: -hit[1]) for query, hits in run.items()})
    documents = sorted({document for hits in run.values() for document in hits})
    ranked = Ranked.write(tmp_path / "hits", run_rows(tmp_path / name), documents.index, set(run))
    whole = read_run(tmp_path / name)
    for query in run:
        positions, values = ranked[query]
        assert [(documents[position], value) for position, value in zip(positions.tolist(), values.tolist(), strict=True)] == whole[query]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q d1 1\nq d2 2\nr d1 1\n", [("q", "d1", 1.0), ("q", "d2", 0.5), ("r", "d1", 1.0)]),
        ("q d1 0\nq d2 1\n", [("q", "d1", 1.0), ("q", "d2", 0.5)]),
        ("q d1 7.5\nq d2 2\n", [("q", "d1", 7.5), ("q", "d2", 2.0)]),
        ("q 1\td 1\t3\nq 1\td 2\t1\n", [("q 1", "d 1", 3.0), ("q 1", "d 2", 1.0)]),
        ("q Q0 d1 1 -0.5 tag\n", [("q", "d1", -0.5)]),
        ("{q Q0 d1 1 2 tag\n{q Q0 d2 2 1 tag\n", [("{q", "d1", 2.0), ("{q", "d2", 1.0)]),
        ("{q\td 1\t3\n", [("{q", "d 1", 3.0)]),
    ],
)
def test_columns(tmp_path: Path, text: str, expected) -> None:
    (tmp_path / "run").write_text(text, encoding="utf-8")
    assert list(run_rows(tmp_path / "run")) == expected
    (tmp_path / "run.gz").write_bytes(gzip.compress(text.encode()))
    assert list(run_rows(tmp_path / "run.gz")) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q Q0 d1 1 0.5 tag\nq Q0 d2 2 0.4\n", "run:2"),
        ("q d1 1.5\nq d2 nan\n", "run:2"),
        ("q d1\n", "run:1"),
        ('{"query": "q", "hits": [["d1", 1.0]]}\n{"query": "q"}\n', "run:2"),
        ("", "empty run"),
    ],
)
def test_damage_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "run").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=words):
        list(run_rows(tmp_path / "run"))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        list(run_rows(tmp_path / "absent"))


def test_a_depth_keeps_the_best_and_counts_the_rest(tmp_path: Path) -> None:
    rows = [("q", "a", 1.0), ("other", "a", 1.0), ("q", "b", 3.0), ("q", "gone", 2.0)]
    ranked = Ranked.write(tmp_path / "hits", rows, {"a": 0, "b": 1}.get, {"q"}, depth=2)
    positions, scores = ranked["q"]
    assert positions.tolist() == [1, -1] and scores.tolist() == [3.0, 2.0]
    assert "other" not in ranked and ranked.counts == {"rows": 4, "rows of other queries": 1, "documents not in the collection": 1}
