"""The whole: clean collections, ones that cannot be read, and random ones."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.collection.doctor import examine
from retrolex.collection.doctor.token_counts import token_counter
from retrolex.errors import UserError

WORDS = token_counter("words")
CORPUS = [{"_id": f"d{n}", "title": f"Title {n}", "text": f"The text of document {n} is not that of the others."} for n in range(5)]
QUERIES = [{"_id": f"q{n}", "text": f"which is number {n}?"} for n in range(4)]
JUDGMENTS = {"train": [("q0", "d0", 1), ("q1", "d1", 1)], "test": [("q2", "d2", 2), ("q3", "d3", 1), ("q3", "d4", 0)]}


def test_a_clean_collection(beir):
    report = examine(beir(CORPUS, QUERIES, **JUDGMENTS), counter=WORDS)
    assert report.findings == [] and report.exit_code == 0
    assert report.counts == {"documents": 5, "queries": 4, "judgments": {"test": 3, "train": 2}, "skipped": 0}
    assert report.reader == "beir" and list(report.languages) == ["english"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt", "notes/a.md", "notes/a.txt", "a.parquet"])
def test_clean_in_every_format(write, tmp_path, findings, name):
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = {"a.jsonl": '{"id": "1", "text": "one"}\n{"id": "2", "text": "two"}\n', "a.csv": "id,text\n1,one\n2,two\n", "a.tsv": "1\tone\n2\ttwo\n"}
    path = write(name, texts.get(name, "one\ntwo\n"))
    if name == "a.parquet":
        pq.write_table(pa.table({"id": ["1", "2"], "text": ["one", "two"]}), path)
    assert findings(path.parent if name.startswith("notes") else path) == {}


def test_what_stops_a_reader_is_told_with_what_was_seen_before(beir, findings):
    corpus = '{"_id": "1", "text": "x"}\n{"_id": "2", "text": ""}\nnot json\n{"_id": "3", "text": "z"}\n'
    assert findings(beir(corpus, QUERIES)) == {
        "reading stopped": ("error", 1, ["corpus.jsonl:3"]),
        "empty documents": ("warning", 1, ["corpus.jsonl:2"]),
    }


def test_lines_of_msmarco_and_trec_files(write, findings):
    source = write("m/collection.tsv", "7\tplain one\n8\t\n7\tother\n").parent
    write("m/queries.dev.tsv", "1\twhat?\n2\twhich?\n")
    write("m/qrels.dev.tsv", "1\t0\t7\t1\n2\t0\t99\t1\n")
    assert findings(source) == {
        "duplicate document ids": ("error", 1, ["collection.tsv:3"]),
        "judgments of documents that are not here": ("warning", 1, ["qrels.dev.tsv:2"]),
        "empty documents": ("warning", 1, ["collection.tsv:2"]),
    }
    document = "<DOC>\n<DOCNO> A-1 </DOCNO>\n<TEXT>\n{} text\n</TEXT>\n</DOC>\n"
    source = write("t/docs.trec", document.format("one") + document.format("another")).parent
    assert findings(source) == {"duplicate document ids": ("error", 1, ["docs.trec:7"])}


def test_what_is_left_out(beir, findings):
    corpus = '{"_id": "1", "text": "x"}\n{"_id": "2"}\n{"_id": "3", "text": [1]}\n'
    found = findings(beir(corpus, QUERIES[:1], test=[("q0", "1", 1), ("q0", "1", 1)]))
    assert found == {"rows that are left out": ("warning", 3, ["corpus.jsonl:2", "corpus.jsonl:3", "qrels/test.tsv:2"])}


@pytest.mark.parametrize("contents", ["", "not json\n", '{"_id": "1"}\n', b"\xff\xfe\x00"])
def test_what_cannot_be_read_at_all(write, contents):
    with pytest.raises(UserError, match=r"a\.jsonl"):
        examine(write("a.jsonl", contents), counter=WORDS)


characters = st.one_of(st.characters(), st.sampled_from("0 7\t\n\ufeff\0\x92\u0301e\u00c3\u00a9\ud800中한"))
strings = st.text(characters, max_size=8)
values = st.one_of(strings, st.none(), st.integers(), st.floats(), st.booleans(), st.lists(strings, max_size=2))
objects = st.fixed_dictionaries({"_id": st.one_of(strings, st.integers(0, 9))}, optional={"title": values, "text": values})
lines = st.lists(st.one_of(objects.map(json.dumps), strings), max_size=12)
judgments = st.lists(st.tuples(strings, strings, st.integers(-1, 3)), max_size=8)


def write_raw(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))


@settings(deadline=None)
@given(corpus=lines, queries=lines, train=judgments, test=judgments, length=st.integers(3, 6))
def test_random_collections_are_reported_or_refused(corpus, queries, train, test, length):
    with tempfile.TemporaryDirectory() as folder:
        write_raw(Path(folder, "corpus.jsonl"), ['{"_id": "first", "text": "first"}', *corpus])
        write_raw(Path(folder, "queries.jsonl"), queries)
        for split, rows in (("train", train), ("test", test)):
            write_raw(Path(folder, "qrels", f"{split}.tsv"), ["\t".join(map(str, row)) for row in rows])
        try:
            report = examine(folder, counter=WORDS, length=length)
        except UserError:
            return
    json.dumps(report.plain()).encode()
    for found in report.findings:
        assert 0 < len(found.examples) == min(3, found.count) and found.mend and found.severity in ("error", "warning", "note")
        assert all(not Path(place.file).is_absolute() and place.line > 0 for place, _ in found.examples)


def retrolex(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "retrolex", "check", *arguments, "--tokenizer", "words"], capture_output=True, text=True, timeout=120
    )


def test_exit_codes_table_and_json(beir, tmp_path):
    folder = beir([*CORPUS, {"_id": "d0", "text": ""}], QUERIES, **JUDGMENTS)
    done = retrolex(str(folder))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "duplicate document ids" in done.stdout and "corpus.jsonl:6" in done.stdout and "1 error, 1 warning" in done.stdout
    done = retrolex(str(folder), "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)["findings"]
    assert [finding["name"] for finding in found] == ["duplicate document ids", "empty documents"]
    assert found[0] == {
        "name": "duplicate document ids",
        "severity": "error",
        "count": 1,
        "examples": [{"file": "corpus.jsonl", "line": 6, "what": "the same id as at corpus.jsonl:1"}],
        "mend": "give every row its own id, or delete the repeated rows",
    }


def test_warnings_and_clean_exit_with_0_and_nothing_with_2(beir, tmp_path):
    done = retrolex(str(beir([*CORPUS, {"_id": "d9", "text": ""}])))
    assert done.returncode == 0 and "warning" in done.stdout
    done = retrolex(str(beir(CORPUS)))
    assert done.returncode == 0 and "Nothing to mend." in done.stdout
    done = retrolex(str(tmp_path / "absent"))
    assert done.returncode == 2 and "no such file or folder" in done.stderr and "Traceback" not in done.stderr
