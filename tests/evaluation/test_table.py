"""The table in its four forms, presets, and the functions behind the command line."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from rich.console import Console

from retrolex.errors import UserError
from retrolex.evaluation.commands import compare_files, evaluate_files, row_names, save, settings, show
from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.measures import DEFAULT_MEASURES
from retrolex.evaluation.policy import Policy
from retrolex.evaluation.presets import PRESETS, preset
from retrolex.evaluation.runs import write_run
from retrolex.evaluation.table import Row, human_bytes, human_ms, results


def made_up(good):
    """Forty queries; the relevant document is first where `good` says so, tenth otherwise."""
    others = [f"x{i}" for i in range(9)]
    return {f"q{i}": [(d, 20.0 - r) for r, d in enumerate(["d", *others] if good(i) else [*others, "d"])] for i in range(40)}


QRELS = {f"q{i}": {"d": 1} for i in range(40)}


@pytest.fixture
def found():
    base, better = (evaluate(made_up(good), QRELS, ["RR@10", "R@100"]) for good in (lambda i: i % 4 == 0, lambda i: i % 4 != 0))
    return results([Row("BM25", base, 1_234_567, 0.52), Row("hy|brid", better)])


def test_cells(found):
    header, bm25, hybrid = found.cells()
    assert header == ["System", "RR@10", "R@100", "Index", "ms a query"]
    assert bm25[0] == "BM25" and bm25[1].startswith("0.325 [") and bm25[3:] == ["1.2 MB", "0.52"]
    assert hybrid[1].startswith("0.775 [") and hybrid[1].endswith("] ▲")
    assert hybrid[2:] == ["1.000 [1.000, 1.000]", "–", "–"]


def test_columns_nobody_measured_are_left_out():
    alone = results([Row("BM25", evaluate(made_up(bool), QRELS, ["RR@10"]))])
    assert alone.cells()[0] == ["System", "RR@10"]
    assert alone.comparison is None and "▲" not in "".join(alone.notes())


def test_terminal(found):
    console = Console(width=120, file=io.StringIO())
    console.print(found.rich())
    text = console.file.getvalue()
    assert "0.325 [" in text and "95% bootstrap" in text and "Queries without a hit count 0" in text


def test_few_queries_are_said_to_be_few(found):
    few = evaluate({"q": [("d", 1.0)]}, {"q": {"d": 1}})
    assert "too narrow" in results([Row("BM25", few)]).notes()[0] and "too narrow" not in found.notes()[0]


def test_markdown_escapes_bars(found):
    lines = found.markdown().splitlines()
    assert lines[1] == "| --- | ---: | ---: | ---: | ---: |"
    assert lines[3].startswith("| hy\\|brid | 0.775")


def test_csv_and_json_hold_the_unrounded_figures(found):
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    parsed = json.loads(found.json())
    assert [(r["system"], r["measure"]) for r in rows] == [(n, m) for n in ("BM25", "hy|brid") for m in ("RR@10", "R@100")]
    assert float(rows[2]["mean"]) == parsed["records"][2]["mean"] == pytest.approx(0.775)
    assert parsed["records"][2]["wins"] == 30 and parsed["records"][2]["significant"] is True
    assert parsed["records"][0]["against"] is None
    assert parsed["policy"]["zero_scores"] == "keep" and parsed["counts"]["BM25"]["queries"] == 40


def test_small_numbers():
    assert [human_bytes(n) for n in (0, 999, 1000, 99_900, 999_900, 12_345_678_901, None)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "100 kB",
        "1.0 MB",
        "12.3 GB",
        "–",
    ]
    assert [human_ms(n) for n in (0.123, 1.26, 12.34, 123.4, None)] == ["0.12", "1.3", "12.3", "123", "–"]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_can_be_computed(name):
    measures, policy, note = preset(name)
    assert evaluate({"q": [("d", 1.0)]}, {"q": {"d": 3}}, measures, policy).values[measures[0]] == np.ones(1)
    assert note


def test_presets_do_as_the_papers_do():
    assert preset("msmarco-passage").measures[0] == "RR@10" and preset("msmarco-document").measures[0] == "RR@100"
    assert preset("trec-dl").policy.relevance == 2
    assert preset("beir").policy.self_hits == "remove"
    with pytest.raises(UserError, match="trec-dl"):
        preset("trec")


def test_settings_without_measures_are_the_presets():
    assert settings(None) == settings() == (list(DEFAULT_MEASURES), Policy())
    assert settings(None, "beir")[0] == ["nDCG@10", "R@100"]


def test_settings_put_flags_over_the_preset():
    assert settings([], "beir", depth=100, zero_scores=None) == (["nDCG@10", "R@100"], Policy(self_hits="remove", depth=100))
    assert settings(["RR@10"])[0] == ["RR@10"]
    assert settings(None, "trec-dl", relevance=1, depth=100)[1] == Policy(depth=100)


def test_files_in_results_out(tmp_path, capsys):
    write_run(tmp_path / "BM25.trec", made_up(lambda i: i % 4 == 0))
    write_run(tmp_path / "hybrid.jsonl", made_up(lambda i: i % 4 != 0))
    (tmp_path / "qrels.tsv").write_text("".join(f"{q}\td\t1\n" for q in QRELS), encoding="utf-8")
    compared = compare_files([tmp_path / "BM25.trec", tmp_path / "hybrid.jsonl"], tmp_path / "qrels.tsv", ["MRR@10"])
    assert [row.name for row in compared.rows] == ["BM25", "hybrid"]
    show(compared)
    assert "hybrid beats BM25 by 138%" in capsys.readouterr().out
    alone = evaluate_files(tmp_path / "BM25.trec", tmp_path / "qrels.tsv")
    for name in ("r.md", "r.csv", "r.json"):
        save(alone, tmp_path / name)
        assert "0.325" in (tmp_path / name).read_text(encoding="utf-8")
    with pytest.raises(UserError, match=r"\.md, \.csv, \.json"):
        save(alone, tmp_path / "r.xls")


def test_judgments_of_other_queries_are_refused(tmp_path):
    write_run(tmp_path / "run.trec", {"1": [("d", 1.0)]})
    (tmp_path / "qrels.tsv").write_text("q1\td\t1\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"run\.trec.*no query in common.*'1'.*'q1'"):
        evaluate_files(tmp_path / "run.trec", tmp_path / "qrels.tsv")
    write_run(tmp_path / "run.trec", {})
    assert evaluate_files(tmp_path / "run.trec", tmp_path / "qrels.tsv").rows[0].evaluation.counts.missing == 1


def test_row_names(tmp_path):
    assert row_names([tmp_path / "a.b.res.gz", tmp_path / "c"]) == ["a.b", "c"]
    assert row_names([tmp_path / "x/run.txt", tmp_path / "y/run.txt"]) == [str(tmp_path / "x/run.txt"), str(tmp_path / "y/run.txt")]
    with pytest.raises(UserError, match="twice"):
        row_names([tmp_path / "a", tmp_path / "a"])
