"""Each format, as people write it."""

from __future__ import annotations

import gzip
import sys
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from retrolex.collection import Document
from retrolex.collection.readers import READERS, detect, sample
from retrolex.collection.readers.text_folder import split_heading

TWO = [Document("1", "T", "one"), Document("2", "", "two")]


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("a.jsonl", '{"_id": "1", "title": "T", "text": "one"}\n{"_id": "2", "text": "two"}'),
        ("a.jsonl", '{"docid": 1, "title": "T", "contents": "one"}\r\n\r\n{"docid": 2, "title": null, "contents": "two"}\r\n'),
        ("a.ndjson", '\ufeff{"pid": "1", "title": "T", "passage": "one", "text_length": 3}\n{"pid": "2", "title": "", "passage": "two"}\n'),
        ("a.csv", "id,title,text\n1,T,one\n2,,two\n"),
        ("a.csv", "\ufeffID;Text;Title\r\n1;one;T\r\n2;two;\r\n"),
        ("a.csv", 'doc_id|title|body|other\n"1"|T|one|x\n\n2||"two"|y'),
        ("a.csv", "id,title,text\r1,T,one\r2,,two\r"),
        ("a.csv", "1,T,one\n2,,two\n"),
        ("a.tsv", "_id\ttitle\ttext\n1\tT\tone\n2\t\ttwo\n"),
        ("a.tsv", "1\tT\tone\r\n2\t\ttwo\r\n"),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_same_two_documents(write, importing, name, contents, compressed):
    source = write(f"{name}.gz", gzip.compress(contents.encode())) if compressed else write(name, contents)
    assert list(importing(source).collection) == TWO


@pytest.mark.parametrize(
    ("name", "contents", "columns"),
    [
        (
            "a.jsonl",
            '{"key": 1, "head": "T", "says": "one", "text": "no"}\n{"key": 2, "says": "two"}\n',
            {"id": "key", "title": "head", "text": "says"},
        ),
        ("a.csv", "key,head,says\n1,T,one\n2,,two\n", {"id": "key", "title": "head", "text": "says"}),
        ("a.csv", "x,1,one,T\nx,2,two,\n", {"id": "2", "title": "4", "text": "3"}),
        ("a.tsv", "1\thttp://\tT\tone\n2\thttp://\t\ttwo\n", {"id": "1", "title": "3", "text": "4"}),
    ],
)
def test_columns_by_name_and_number(write, importing, name, contents, columns):
    assert list(importing(write(name, contents), columns=columns).collection) == TWO


def test_titles_alone_can_be_the_text(write, importing):
    source = write("a.csv", "id,title\n1,one\n")
    assert list(importing(source, columns={"text": "title"}).collection) == [Document("1", "", "one")]


def test_without_ids_the_line_numbers_serve(write, importing, capsys):
    assert importing(write("a.jsonl", '{"text": "one"}\n\n{"text": "two"}\n')).collection.ids == ["1", "3"]
    assert importing(write("a.csv", "text\none\ntwo\n")).collection.ids == ["2", "3"]
    assert importing(write("a.txt", "one\n\n two \n")).collection.ids == ["1", "3"]
    assert capsys.readouterr().err.count("line numbers serve as ids") == 2
    write("many/b.jsonl", '{"text": "three"}')
    assert importing(write("many/a.jsonl", '{"text": "one"}\n{"text": "two"}').parent).collection.ids == ["a.jsonl:1", "a.jsonl:2", "b.jsonl:1"]


def test_csv_quoting_line_breaks_nul_and_foreign_bytes(write, importing):
    contents = b'id,text\n1,"says ""hi"",\nthen goes"\n2,n\0ul\n3,caf\xe9\n4,a,b\n5,caf\xc3\xa9\n'
    imported = importing(write("a.csv", contents))
    assert list(imported.collection) == [Document("1", "", 'says "hi",\nthen goes'), Document("2", "", "n\0ul"), Document("5", "", "café")]
    assert [(reject["line"], reject["reason"]) for reject in imported.rejects] == [(5, "bytes that are not UTF-8"), (6, "3 fields, 2 were expected")]


def test_tsv_keeps_quotation_marks_and_tabs(write, importing):
    imported = importing(write("collection.tsv", '0\t"Manhattan Project" and\n1\t"never closed\n2\ta\tb\n3\t\n4\n5\tend\n'))
    texts = {document.id: document.text for document in imported.collection}
    assert texts == {"0": '"Manhattan Project" and', "1": '"never closed', "2": "a\tb", "3": "", "5": "end"}
    assert [(reject["line"], reject["reason"]) for reject in imported.rejects] == [(5, "1 fields, 2 were expected")]


def test_parquet(tmp_path, importing):
    table = pa.table({"id": [1, 2], "title": pa.array(["T", None]).dictionary_encode(), "text": ["one", "two"], "vector": [[0.1], [0.2]]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert list(importing(tmp_path / "a.parquet").collection) == TWO
    assert list(importing(tmp_path).collection) == TWO
    pq.write_table(pa.table({"text": ["one", "two"]}), tmp_path / "b.parquet")
    assert importing(tmp_path / "b.parquet").collection.ids == ["1", "2"]


def test_parquet_with_bytes_that_are_not_utf8(tmp_path, importing):
    text = pa.array([b"one", b"caf\xe9", "café".encode()], pa.binary())
    pq.write_table(pa.table({"id": ["1", "2", "3"], "text": text}), tmp_path / "a.parquet")
    imported = importing(tmp_path / "a.parquet")
    assert [document.text for document in imported.collection] == ["one", "café"] and imported.rejects[0]["line"] == 2


def test_beir_variants(write, importing):
    write("c/corpus.jsonl.gz", gzip.compress(b'{"_id": 10, "text": "x", "metadata": {}}\n{"_id": "11", "title": null, "text": "y"}\n'))
    write("c/queries.jsonl.gz", gzip.compress(b'{"_id": 1, "text": "a"}'))
    write("c/qrels/dev.tsv", "1 0 10 1\n1 0 11 0\n")
    write("c/qrels/test.tsv.gz", gzip.compress(b"\xef\xbb\xbfquery-id\tcorpus-id\tscore\r\n1\t10\t2\r\n"))
    source = write("c/qrels/train.tsv", "1\t0\t10\t1.0\n").parent.parent
    imported = importing(source)
    assert list(imported.collection) == [Document("10", "", "x"), Document("11", "", "y")]
    assert imported.collection.queries == {"1": "a"}
    splits = {split: imported.collection.qrels(split) for split in imported.collection.splits}
    assert splits == {"dev": {"1": {"10": 1, "11": 0}}, "test": {"1": {"10": 2}}, "train": {"1": {"10": 1}}}
    assert imported.counts["warnings"] == imported.counts["rejects"] == 0


def test_text_folder(write, importing, capsys):
    write("texts/b.txt", "\ufeff# no title in plain text\r\nline\r\n")
    write("texts/a/deep.md", "intro\n\n# The title #\n\nbody\n")
    write("texts/empty.md", "")
    write("texts/bad.txt", b"fine\ncaf\xe9\n")
    write("texts/c.txt.gz", gzip.compress(b"packed"))
    write("texts/.git/description.txt", "hidden")
    folder = write("texts/picture.png", b"\x89PNG").parent
    imported = importing(folder)
    assert list(imported.collection) == [
        Document("a/deep.md", "The title", "intro\n\n\nbody"),
        Document("b.txt", "", "# no title in plain text\nline"),
        Document("c.txt.gz", "", "packed"),
        Document("empty.md", "", ""),
    ]
    assert imported.rejects == [{"file": "bad.txt", "line": 2, "reason": "bytes that are not UTF-8"}]
    assert "1 files that are neither .txt, .md nor .html" in capsys.readouterr().err


def test_headings_in_code_are_no_titles():
    assert split_heading("```\n# comment\n```\n# Real\ntext") == ("Real", "```\n# comment\n```\ntext")
    assert split_heading("## Second level only\ntext") == ("", "## Second level only\ntext")


def test_sample_by_name(monkeypatch, importing, tmp_path):
    module = ModuleType("a_sample")
    module.documents = lambda: iter(TWO)
    module.queries = lambda: {"q": "one?"}
    module.qrels = lambda: {"test": {"q": {"1": 2}}}
    monkeypatch.setitem(sys.modules, "a_sample", module)
    monkeypatch.setitem(sample.SAMPLES, "tiny", "a_sample")
    imported = importing("tiny")
    assert list(imported.collection) == TWO
    assert imported.collection.queries == {"q": "one?"} and imported.collection.qrels("test") == {"q": {"1": 2}}


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("c/corpus.jsonl", "beir"), ("c/corpus.jsonl.gz", "beir"), ("c/a.JSONL", "jsonl"), ("c/a.csv.gz", "csv"), ("c/a.tsv", "tsv"),
        ("c/a.parquet", "parquet"), ("c/a.md", "text_folder"), ("c/deep/a.txt", "text_folder"), ("c/README.md", "text_folder"),
    ],
)  # fmt: skip
def test_detection_of_folders(write, tmp_path, name, reader):
    write(name, "x")
    assert detect(tmp_path / "c") == reader


@pytest.mark.parametrize(("suffix", "reader"), [(".jsonl", "jsonl"), (".json", "jsonl"), (".csv", "csv"), (".tsv", "tsv"), (".txt", "lines")])
def test_detection_of_files(write, suffix, reader):
    assert detect(write(f"a{suffix}", "x")) == detect(write(f"b{suffix}.gz", "x")) == reader
    assert reader in READERS


def test_a_readme_beside_the_rows_is_no_document(write, importing):
    write("c/README.md", "# About")
    assert importing(write("c/a.jsonl", '{"id": "1", "text": "one"}').parent).collection.ids == ["1"]
