"""What is refused, what is skipped and listed, what is kept with a warning."""

from __future__ import annotations

import gzip
import re

import pytest

from retrolex.collection import Document, import_collection
from retrolex.errors import UserError

GOOD = '{"_id": "1", "title": "T", "text": "one"}\n'


def refused(source, target, **options) -> str:
    with pytest.raises(UserError) as caught:
        import_collection(source, target, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("a.jsonl", "", "no documents in it"),
        ("a.jsonl", "\n \n\r\n", "no documents in it"),
        ("a.jsonl", GOOD + "not json\n", r"a\.jsonl:2: a line that is not JSON"),
        ("a.jsonl", GOOD + '{"_id": "2", "text": "cut', r"a\.jsonl:2: a line that is not JSON"),
        ("a.jsonl", "[" * 100_000, r"a\.jsonl:1: a line that is not JSON, or nested too deep"),
        ("a.jsonl", '{"_id": ' + "9" * 10_000 + ', "text": "x"}', r"a\.jsonl:1: a line that is not JSON"),
        ("a.jsonl", GOOD + "[1]\n", r"a\.jsonl:2: a JSON object was expected"),
        ("a.jsonl", GOOD + '{"text": "x"}\n', r"a\.jsonl:2: a row without an id"),
        ("a.jsonl", GOOD + '{"_id": "", "text": "x"}\n', r"a\.jsonl:2: a row without an id"),
        ("a.jsonl", GOOD + '{"_id": null, "text": "x"}\n', r"a\.jsonl:2: a row without an id"),
        ("a.jsonl", GOOD + '{"_id": 2.5, "text": "x"}\n', r"a\.jsonl:2: the id 2\.5 is neither"),
        ("a.jsonl", GOOD + '{"_id": true, "text": "x"}\n', r"a\.jsonl:2: the id True is neither"),
        ("a.jsonl", '{"text": "x"}\n' + GOOD, r"a\.jsonl:2: a row with an id, where the first row has none"),
        ("a.jsonl", GOOD + "\n" + GOOD, r"a\.jsonl:3: the id '1' has occurred before, at .*a\.jsonl:1"),
        ("a.jsonl", '{"_id": 1, "text": "x"}\n' + GOOD, r"a\.jsonl:2: the id '1' has occurred before"),
        ("a.jsonl", '{"_id": "1", "question": "x"}\n', r"a\.jsonl:1: no column that could be the text; there are: _id, question"),
        ("a.jsonl", '{"_id": "1", "text": ["x"]}\n', r"no documents in it: all 1 rows had to be skipped, the first at .*a\.jsonl:1: .*list"),
        ("a.jsonl", GOOD.encode("utf-16"), "UTF-16"),
        ("a.jsonl", GOOD.encode("utf-16-le"), "UTF-16"),
        ("a.jsonl.gz", GOOD.encode(), "damaged or cut gzip"),
        ("a.jsonl.gz", gzip.compress(GOOD.encode())[:-6], "damaged or cut gzip"),
        ("a.csv", 'id,text\n1,"never closed\n', r"a\.csv:2: not a row of comma-separated values"),
        ("a.csv", "id,text\n1,x\n,y\n", r"a\.csv:3: a row without an id"),
        ("a.csv", 'id,text\n1,"x\ny"\n1,z\n', r"a\.csv:4: the id '1' has occurred before, at .*a\.csv:2"),
        ("a.csv", "id,text,id\n1,x,2\n", r"a\.csv:1: the column name 'id' occurs twice"),
        ("a.csv", "1,2,3,4\n", r"a\.csv:1: 4 columns, and no name .* tells which is the text"),
        ("a.tsv", "1\tx\n1\ty\n", r"a\.tsv:2: the id '1' has occurred before, at .*a\.tsv:1"),
        ("a.parquet", b"PAR1 no", "not a Parquet file"),
        ("a.docx", b"PK", r"files ending in \.docx are not known"),
    ],
)
def test_refused_with_place_and_reason(write, tmp_path, name, contents, message):
    assert re.search(message, refused(write(name, contents), tmp_path))


def test_missing_and_unsuitable_folders(write, tmp_path):
    assert "no such file or folder" in refused(tmp_path / "nothing", tmp_path)
    (tmp_path / "empty").mkdir()
    assert "no .txt" in refused(tmp_path / "empty", tmp_path)
    folder = write("half/queries.jsonl", '{"_id": "q", "text": "x"}').parent
    assert "no corpus.jsonl" in refused(folder, tmp_path)
    assert "no corpus.jsonl" in refused(folder, tmp_path, reader="beir")
    write("several/a.csv", "id,text\n")
    assert "several formats" in refused(write("several/a.jsonl", GOOD).parent, tmp_path)
    write("twice/corpus.jsonl", GOOD)
    assert "both corpus.jsonl and corpus.jsonl.gz" in refused(write("twice/corpus.jsonl.gz", b"").parent, tmp_path)


def test_wrong_options(write, tmp_path):
    source = write("a.jsonl", GOOD)
    assert "no reader 'word'" in refused(source, tmp_path, reader="word")
    assert "no column 'key' for the id; there are: _id, title, text" in refused(source, tmp_path, columns={"id": "key"})
    assert "not for language" in refused(source, tmp_path, columns={"language": "en"})
    assert "takes no column names" in refused(write("a.txt", "x"), tmp_path, columns={"id": "key"})
    assert "no collection 'perl-docs' comes with retrolex" in refused("perl-docs", tmp_path, reader="sample")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1\td1\thigh", r"test\.tsv:2: the grade 'high' is not a whole number"),
        ("q1\td1\t0.5", r"test\.tsv:2: the grade '0\.5' is not a whole number"),
        ("q1\td1\t99999999999", r"test\.tsv:2: the grade '99999999999' is not a whole number"),
        ("q1\td1", r"test\.tsv:2: not a judgment"),
        ("q1\t\t1", r"test\.tsv:2: not a judgment"),
        ("q1\t0\td1\t1\textra", r"test\.tsv:2: not a judgment"),
        ("q1\td1\t3", r"test\.tsv:2: .* have grade 3 here and 1 at .*test\.tsv:1"),
    ],
)
def test_wrong_judgments_are_refused(write, tmp_path, line, message):
    write("c/corpus.jsonl", '{"_id": "d1", "text": "one"}\n')
    source = write("c/qrels/test.tsv", f"q1\td1\t1\n{line}\n").parent.parent
    assert re.search(message, refused(source, tmp_path))


def test_what_is_skipped_is_listed(write, importing):
    rows = [
        GOOD.encode(),
        b'{"_id": "2", "text": "caf\xe9"}\n',
        b'{"_id": "3", "text": ["a", "list"]}\n',
        b'{"_id": "4", "title": 4, "text": null}\n',
        b'{"_id": "5", "text": "\\ud800"}\n',
        b'{"_id": "6", "other": "x"}\n',
        b'{"_id": "7", "text": ""}\n',
        b'{"_id": "8", "title": NaN, "text": "eight"}\n',
    ]
    imported = importing(write("a.jsonl", b"".join(rows)))
    assert list(imported.collection) == [Document("1", "T", "one"), Document("4", "4", ""), Document("7", "", ""), Document("8", "", "eight")]
    assert [(reject["file"], reject["line"]) for reject in imported.rejects] == [("a.jsonl", line) for line in (2, 3, 5, 6)]
    assert "not UTF-8" in imported.rejects[0]["reason"] and "surrogate" in imported.rejects[2]["reason"]
    assert imported.counts["documents"] + imported.counts["rejects"] == len(rows)
    assert imported.counts["empty documents"] == 1


def test_queries_without_text_and_judgments_that_point_nowhere(write, importing):
    write("c/corpus.jsonl", GOOD)
    write("c/queries.jsonl", '{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": " "}\n{"_id": "q3", "text": {}}\n')
    source = write("c/qrels/test.tsv", "q1\t1\t1\nq1\tlost\t1\nq9\t1\t1\nq1\t1\t1\n").parent.parent
    imported = importing(source)
    assert imported.collection.queries == {"q1": "a"}
    assert [(reject["file"], reject["line"]) for reject in imported.rejects] == [("queries.jsonl", 2), ("queries.jsonl", 3), ("qrels/test.tsv", 4)]
    assert [(warning["file"], warning["line"]) for warning in imported.warnings] == [("qrels/test.tsv", 2), ("qrels/test.tsv", 3)]
    assert "document 'lost'" in imported.warnings[0]["reason"] and "query 'q9'" in imported.warnings[1]["reason"]
    assert imported.collection.qrels("test") == {"q1": {"1": 1, "lost": 1}, "q9": {"1": 1}}  # kept: an absent relevant document costs recall
    assert imported.counts == {
        "reader": "beir", "documents": 1, "empty documents": 0, "queries": 1, "judgments": {"test": 3}, "rejects": 3, "warnings": 2,
    }  # fmt: skip


def test_duplicate_queries_are_refused(write, tmp_path):
    write("c/corpus.jsonl", GOOD)
    source = write("c/queries.jsonl", '{"_id": "1", "text": "a"}\n{"_id": "1", "text": "b"}\n').parent
    assert re.search(r"queries\.jsonl:2: the id '1' has occurred before, at .*queries\.jsonl:1", refused(source, tmp_path))
