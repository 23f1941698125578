"""`retrolex mine` from end to end: any mix of pools, every format, and mistakes."""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path

import pytest
from tests.pipeline.run_folders import build_run
from typer.testing import CliRunner

from retrolex.cli.app import app
from retrolex.cli.mine import mine
from retrolex.errors import UserError
from retrolex.finetuning.formats import FORMATS, read_rows, resolve
from retrolex.finetuning.pairs import Pair, write_pairs
from retrolex.pipeline import mining
from retrolex.pipeline.mining_sources import open_collection, parse_spec
from retrolex.search.searcher import Searcher

DOCUMENTS = {
    "wing": "the wing carries the load of the aircraft",
    "wing copy": "the wing carries the load of the aircraft",
    "lift": "lift of a wing grows with the angle of attack",
    "bone": "calcium keeps the bone strong",
    "bread": "yeast lets the bread rise",
    "file": "read a file line by line",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": name, "title": name.title(), "text": text} for name, text in DOCUMENTS.items() if name != "wing copy"]
    rows.append({"_id": "wing copy", "title": "Wing", "text": DOCUMENTS["wing copy"]})
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    queries = {"1": "load of the wing", "2": "strong bone", "3": "nobody judged this"}
    (folder / "queries.jsonl").write_text("".join(json.dumps({"_id": id, "text": text}) + "\n" for id, text in queries.items()), encoding="utf-8")
    (folder / "qrels/train.tsv").write_text("query-id\tcorpus-id\tscore\n1\twing\t1\n1\tlift\t1\n2\tbone\t1\n2\tgone\t1\n", encoding="utf-8")
    return folder


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.trec"
    hits = [("1", "wing-of-elsewhere", 9), ("1", "bread", 8), ("1", "file", 7), ("2", "bread", 3), ("2", "lift", 2)]
    path.write_text("".join(f"{query} Q0 {id} {rank} {score} x\n" for rank, (query, id, score) in enumerate(hits, 1)), encoding="utf-8")
    return path


def job(source: Path, output: Path, *pools: object, **changes) -> dict[str, int]:
    """The verb, with its defaults."""
    defaults = {name: parameter.default for name, parameter in signature(mine).parameters.items() if parameter.default is not parameter.empty}
    mine(str(source), [str(pool) for pool in pools], output, **{**defaults, **changes})
    return json.loads(output.with_name(f"{output.name}.manifest.json").read_text(encoding="utf-8"))["counts"]


def test_a_mix_of_bm25_and_a_run_file(source: Path, run_file: Path, tmp_path: Path) -> None:
    counts = job(source, tmp_path / "out.jsonl", "bm25", f"{run_file}:1-3", per_query=2)
    rows = list(read_rows(tmp_path / "out.jsonl", "retrolex"))
    assert [(row.query_id, row.query, [passage.id for passage in row.positives]) for row in rows] == [
        ("1", "load of the wing", ["wing", "lift"]),  # neighbouring pairs of one query are one row
        ("2", "strong bone", ["bone"]),
    ]
    found = {(negative.id, negative.miner, negative.rank, negative.mined_score) for negative in rows[0].negatives if negative.miner == "mine"}
    assert found <= {("bread", "mine", 2, 8.0), ("file", "mine", 3, 7.0)} and found
    assert not {"wing", "lift", "wing copy"} & {negative.id for negative in rows[0].negatives}
    assert rows[0].positives[0].title == "Wing" and rows[0].positives[0].text == DOCUMENTS["wing"]
    assert counts["pairs"] == 3 and counts["rows"] == 2 and counts["judgments without their query or document"] == 1
    assert counts["mined"] + counts["random"] + counts["repeats"] == 6
    assert counts["mine: hits that are not in the collection"] == 1
    assert {path.name for path in tmp_path.iterdir()} == {"source", "mine.trec", "out.jsonl", "out.jsonl.manifest.json"}


def test_the_command_line(source: Path, run_file: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    words = ["--pool", run_file, "--pool", "bm25:50", "-n", 2, "--format", "sentence-transformers", "--sampling", "top", "--output", output]
    done = CliRunner().invoke(app, ["mine", *map(str, [source, *words])], catch_exceptions=False)
    assert done.exit_code == 0
    assert [len(row.negatives) for row in read_rows(output, "sentence-transformers")] == [2, 2, 2]


def test_rows_of_the_source_that_cannot_be_read_are_listed(source: Path, tmp_path: Path) -> None:
    with open(source / "corpus.jsonl", "ab") as file:
        file.write(b'{"_id": "bad", "text": "\xff"}\n')
    assert job(source, tmp_path / "out.jsonl", "bm25")["rows of the source that were skipped"] == 1
    (reject,) = json.loads((tmp_path / "out.jsonl.manifest.json").read_text(encoding="utf-8"))["rejects"]
    assert (reject["file"], reject["line"]) == ("corpus.jsonl", 7)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(source: Path, tmp_path: Path, name: str) -> None:
    output = tmp_path / f"out{FORMATS[name].suffixes[0]}"
    job(source, output, "bm25", format=name, per_query=2)
    collection = open_collection(str(source), tmp_path)
    rows = list(resolve(read_rows(output, name), collection))
    assert {row.query for row in rows} == {"load of the wing", "strong bone"}
    for row in rows:
        known = {"load of the wing": {"wing", "lift"}, "strong bone": {"bone"}}[row.query]
        answers = {collection[collection.position(id)].full for id in known}
        assert {passage.full for passage in row.positives} <= answers and not {passage.full for passage in row.negatives} & answers
    if name == "tevatron":
        corpus = [json.loads(line) for line in (tmp_path / "out.corpus.jsonl").read_text(encoding="utf-8").splitlines()]
        assert corpus[0] == {"docid": "wing", "document_text": f"Wing {DOCUMENTS['wing']}"} and len(corpus) == 6
    assert (tmp_path / "out.queries.tsv").exists() == (not FORMATS[name].queries)


def test_teacher_scores_go_along_and_filter(source: Path, run_file: Path, tmp_path: Path) -> None:
    teacher = tmp_path / "teacher.tsv"
    teacher.write_text("1\twing\t5\n1\tlift\t4.5\n1\tbread\t4.75\n1\tfile\t-3\n2\tbone\t6\n2\tbread\t-1\n2\tlift\t0.25\n", encoding="utf-8")
    options = {"per_query": 1, "sampling": "top", "teacher": teacher, "teacher_margin": 2.0, "format": "sentence-transformers"}
    counts = job(source, tmp_path / "out.jsonl", run_file, **options)
    rows = list(read_rows(tmp_path / "out.jsonl", "sentence-transformers"))
    assert [(row.positives[0].score, row.negatives[0].full, row.negatives[0].score) for row in rows] == [
        (5.0, f"File {DOCUMENTS['file']}", -3.0),
        (4.5, f"File {DOCUMENTS['file']}", -3.0),
        (6.0, f"Bread {DOCUMENTS['bread']}", -1.0),
    ]
    assert counts["mine: too close to the positive"] == 2


def test_pairs_of_a_file(source: Path, tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs.jsonl", [Pair("yeast", "what is left of it", "bread", "bread", "cloze")])
    job(source, tmp_path / "out.jsonl", "bm25", pairs=tmp_path / "pairs.jsonl", per_query=1)
    (row,) = read_rows(tmp_path / "out.jsonl", "retrolex")
    assert row.query_id.startswith("pseudo-") and row.positives[0].text == "what is left of it"


def test_killed_while_writing_it_goes_on(source: Path, tmp_path: Path, monkeypatch) -> None:
    job(source, tmp_path / "whole.jsonl", "bm25")

    def kill(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(mining, "write_rows", kill)
        with pytest.raises(KeyboardInterrupt):
            job(source, tmp_path / "out.jsonl", "bm25")
    assert not (tmp_path / "out.jsonl").exists() and (tmp_path / "out.jsonl.mining/mined/manifest.json").exists()
    monkeypatch.setattr(mining, "mine_pools", kill)  # nothing is mined twice
    job(source, tmp_path / "out.jsonl", "bm25")
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bm25", ("bm25", 1, 1000)),
        ("dense", ("dense", 1, 200)),
        ("runs/a/dense:50", ("runs/a/dense", 1, 50)),
        ("my run.trec:10-200", ("my run.trec", 10, 200)),
        ("C:\\runs\\my.trec", ("C:\\runs\\my.trec", 1, 200)),
        ("a-1:5", ("a-1", 1, 5)),
    ],
)
def test_names_of_pools(text: str, expected) -> None:
    assert parse_spec(text) == expected


@pytest.mark.parametrize(
    ("pools", "changes", "words"),
    [
        (["absent.trec"], {}, "no pool 'absent.trec'"),
        ([""], {}, "no pool ''"),
        (["bm25:5-3"], {}, "ranks 5 to 3"),
        (["bm25", "bm25:10"], {}, "same name"),
        (["bm25"], {"split": "dev"}, "no judgments for the split 'dev'; there are: train"),
        (["bm25"], {"format": "csv"}, "no format"),
        (["bm25"], {"engine": "spark"}, "no engine 'spark'"),
        (["bm25"], {"sampling": "best"}, "no way of sampling"),
        (["bm25"], {"teacher_margin": 1.0}, "no teacher scores"),
        (["bm25"], {"teacher": Path("absent.tsv")}, "absent.tsv"),
        (["bm25"], {"pairs": Path("absent.jsonl")}, "no pairs here"),
    ],
)
def test_mistakes_leave_nothing_behind(source: Path, tmp_path: Path, pools, changes, words) -> None:
    with pytest.raises(UserError, match=words):
        job(source, tmp_path / "out.jsonl", *pools, **changes)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


@pytest.fixture
def run_folder(source: Path, tmp_path: Path, tiny_model_folder: Path) -> Path:
    """A run of three retrievers, with pseudo-queries."""
    (source / "qrels/train.tsv").rename(source / "qrels/test.tsv")
    folder = build_run(source, tiny_model_folder, tmp_path / "run")
    write_pairs(
        folder / "pairs/train.jsonl", [Pair("load of the wing", "left of it", "wing", "wing", "cloze"), Pair("yeast", "x", "bread", "bread", "lead")]
    )
    return folder


def test_the_retrievers_of_a_run(run_folder: Path, tmp_path: Path) -> None:
    """BM25, dense and lexicon in one mix; the provenance is what each of them says when asked."""
    job(run_folder, tmp_path / "out.jsonl", "bm25", "dense:5", "lexicon:1-5", per_query=3)
    searcher = Searcher.open(run_folder)
    for row in read_rows(tmp_path / "out.jsonl", "retrolex"):
        mined = [negative for negative in row.negatives if negative.miner != "random"]
        assert {negative.miner for negative in mined} >= {"dense", "lexicon"} and len(row.negatives) == 3
        for negative in mined:
            id, score = searcher.system(negative.miner).search({"q": row.query}, 10)["q"][negative.rank - 1]
            assert (id, pytest.approx(score, abs=1e-3)) == (negative.id, negative.mined_score)


def test_a_retriever_of_another_run(run_folder: Path, source: Path, tmp_path: Path) -> None:
    """Its collection holds the documents in the same or another order, or not at all: ids decide."""
    (source / "qrels/test.tsv").rename(source / "qrels/train.tsv")
    lines = (source / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[::-1]
    (source / "corpus.jsonl").write_text("\n".join(line for line in lines if '"file"' not in line) + "\n", encoding="utf-8")
    pool = run_folder / "dense"
    job(source, tmp_path / "out.jsonl", pool, per_query=1, sampling="top")
    for row in read_rows(tmp_path / "out.jsonl", "retrolex"):
        (negative,) = row.negatives
        hits = Searcher.open(run_folder).system("dense").search({"q": row.query}, 10)["q"]
        assert hits[negative.rank - 1][0] == negative.id != "file" and negative.miner == str(pool)
