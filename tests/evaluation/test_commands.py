"""The verbs `evaluate` and `compare`: every part of the policy by a flag, values query by query, and what is refused before any work."""

from __future__ import annotations

import csv

import pytest
from typer.testing import CliRunner

from retrolex.cli.app import app
from retrolex.errors import UserError

RUN = {"q1": [("q1", 3.0), ("a", 2.0), ("b", 2.0)], "q2": [("a", 0.0)]}
BETTER = {"q1": [("a", 3.0)], "q2": [("a", 1.0)], "q3": [("c", 1.0)]}
QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"a": 2}, "q3": {"c": 3}, "q4": {"c": 0}}


@pytest.fixture
def files(tmp_path):
    for name, run in (("bm25", RUN), ("mine", BETTER)):
        lines = [f"{query} Q0 {id} {rank} {score} x\n" for query, hits in run.items() for rank, (id, score) in enumerate(hits, 1)]
        (tmp_path / f"{name}.trec").write_text("".join(lines), encoding="utf-8")
    judged = [f"{query}\t{id}\t{grade}\n" for query, grades in QRELS.items() for id, grade in grades.items()]
    (tmp_path / "qrels.tsv").write_text("".join(judged), encoding="utf-8")
    return tmp_path


def measure(verb, folder, *flags):
    """What a verb printed, and the first system's value of the first measure, as it was saved."""
    runs = [str(folder / "bm25.trec"), *[str(folder / "mine.trec")] * (verb == "compare")]
    qrels = ["--qrels"] * (verb == "compare") + [str(folder / "qrels.tsv")]
    done = CliRunner().invoke(app, [verb, *runs, *qrels, *flags, "--save", str(folder / "out.csv")], env={"COLUMNS": "200"})
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    with open(folder / "out.csv", encoding="utf-8") as file:
        return done.output, next(csv.DictReader(file))


@pytest.mark.parametrize("verb", ["evaluate", "compare"])
@pytest.mark.parametrize(
    ("flags", "value"),
    [
        (["--measures", "RR@10"], (1 / 2 + 1) / 3),  # q1: self-hit, then b before a; q2: a; q3: nothing
        (["--measures", "MRR@10", "--missing", "exclude"], (1 / 2 + 1) / 2),
        (["--measures", "recip_rank", "--zero-scores", "drop"], (1 / 2) / 3),
        (["--measures", "RR@10", "--self-hits", "remove"], (1 + 1) / 3),
        (["--measures", "RR@10", "--relevance", "2"], (1 / 2 + 1) / 3),
        (["--measures", "RR@10", "--relevance", "2", "--ties", "ascending"], (1 / 3 + 1) / 3),
        (["--measures", "RR(rel=2)@10", "--ties", "run"], (1 / 3 + 1) / 3),
        (["--measures", "R@100", "--depth", "2"], (1 / 2 + 1) / 3),
        (["--measures", "Success@100", "--depth", "2"], (1 + 1) / 3),
        (["--preset", "beir", "--measures", "RR@10"], (1 + 1) / 3),
        (["--preset", "beir", "--measures", "RR@10", "--self-hits", "keep"], (1 / 2 + 1) / 3),
    ],
)
def test_every_part_of_the_policy_by_a_flag_of_both_verbs(verb, flags, value, files):
    said, first = measure(verb, files, *flags)
    assert float(first["mean"]) == pytest.approx(value)
    assert "Judged@10" in said and "excluded: 1" in said


def test_the_printed_policy_is_the_one_applied(files):
    said, _ = measure("compare", files, "--missing", "exclude", "--ties", "ascending", "--relevance", "3", "--zero-scores", "drop")
    said = " ".join(said.split())
    for part in ("without a hit are excluded", "document id (ascending)", "grade of at least 3", "score of exactly 0 are dropped"):
        assert part in said


def test_excluding_leaves_both_systems_the_same_queries(files):
    said, first = measure(
        "compare", files, "--measures", "RR@10", "--missing", "exclude", "--zero-scores", "drop", "--per-query", str(files / "q.csv")
    )
    assert first["queries"] == "1"
    assert "Queries without a hit in another run, excluded: 2." in " ".join(said.split())
    assert (files / "q.csv").read_text(encoding="utf-8").splitlines()[1:] == ["q1,bm25,RR@10,0.5,", "q1,mine,RR@10,1.0,0.5"]


def test_values_and_changes_query_by_query(files):
    said, _ = measure("compare", files, "--measures", "RR@10 R@100", "--per-query", str(files / "q.csv"))
    with open(files / "q.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 3
    changes = {(row["query"], row["measure"]): float(row["change"]) for row in rows if row["system"] == "mine"}
    assert changes == {("q1", "RR@10"): 0.5, ("q2", "RR@10"): 0, ("q3", "RR@10"): 1, ("q1", "R@100"): -0.5, ("q2", "R@100"): 0, ("q3", "R@100"): 1}
    assert "2 / 1 / 0" in said and "1 / 1 / 1" in said
    assert "No difference in RR@10 between mine and bm25 that these 3 queries can show" in said


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--save", "out.xls"], ".md, .csv, .json"),
        (["--save", "absent/out.md"], "no such folder"),
        (["--per-query", "out.json"], ".csv"),
        (["--ties", "id"], "descending or ascending or run"),
        (["--missing", "skip"], "zero or exclude"),
        (["--measures", "quality@10"], "quality@10"),
        (["--preset", "trec"], "trec-dl"),
    ],
)
def test_refused(flags, words, files):
    with pytest.raises(UserError, match=words):
        done = CliRunner().invoke(app, ["evaluate", str(files / "bm25.trec"), str(files / "qrels.tsv"), *flags])
        raise done.exception


def test_trec_dl_levels_by_flag(files):
    assert measure("evaluate", files, "--preset", "trec-dl", "--measures", "RR@10")[1]["measure"] == "RR(rel=2)@10"
    assert measure("evaluate", files, "--preset", "trec-dl", "--measures", "RR@10", "--relevance", "1")[1]["measure"] == "RR@10"


@pytest.mark.parametrize("verb", ["evaluate", "compare", "report", "reproduce"])
def test_help_with_an_example(verb):
    said = CliRunner().invoke(app, [verb, "--help"], env={"COLUMNS": "200"}).output
    assert f"retrolex {verb} " in said
