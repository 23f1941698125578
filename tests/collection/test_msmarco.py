"""MS MARCO's folders, triples and rankings."""

from __future__ import annotations

import gzip
import re
import tracemalloc
from functools import partial

import pytest

from retrolex.collection import Document, import_collection
from retrolex.collection.readers import detect
from retrolex.collection.readers.msmarco_folder import split_of
from retrolex.collection.readers.msmarco_training import Candidate, Triple, read_top1000, read_triples
from retrolex.collection.readers.records import Place, Reject
from retrolex.errors import UserError

read_ids, read_texts = partial(read_triples, ids=True), partial(read_triples, ids=False)


@pytest.fixture
def passages(write):
    write("m/collection.tsv", '7\tone "never closed\n8\ta\tb\n9\t\n10\n1\t2\n')
    write("m/queries.dev.tsv", "q1\tfirst?\nq2\tsecond\twith tab\nq3\t\nq4\n")
    write("m/queries.dev.small.tsv", "q1\tfirst?\n")
    write("m/queries.train.tsv.gz", gzip.compress(b"t1\tthird\n"))
    write("m/qrels.dev.tsv", "q1 0 7 1\nq2 0 8 1\n")
    write("m/qrels.dev.small.tsv", "q1\t0\t7\t1\n")
    write("m/qidpidtriples.train.full.2.tsv", "t1\t7\t8\n")
    write("m/top1000.dev", "q1\t7\tfirst?\tone\n")
    return write("m/qrels.train.tsv.gz", gzip.compress(b"t1\t0\t9\t1\n")).parent


def test_passages(passages, importing, capsys):
    imported = importing(passages)
    assert imported.counts["reader"] == "msmarco"
    assert [tuple(document) for document in imported.collection] == [("7", "", 'one "never closed'), ("8", "", "a\tb"), ("9", "", ""), ("1", "", "2")]
    assert imported.collection.queries == {"q1": "first?", "q2": "second\twith tab", "t1": "third"}
    splits = {split: imported.collection.qrels(split) for split in imported.collection.splits}
    assert splits == {"dev": {"q1": {"7": 1}, "q2": {"8": 1}}, "dev.small": {"q1": {"7": 1}}, "train": {"t1": {"9": 1}}}
    assert [(reject["file"], reject["line"]) for reject in imported.rejects] == [
        ("collection.tsv", 4), ("queries.dev.tsv", 1), ("queries.dev.tsv", 3), ("queries.dev.tsv", 4),
    ]  # fmt: skip
    assert "2 files that hold neither" in capsys.readouterr().err


def test_documents_with_url_and_title(write, importing):
    write("d/msmarco-docs.tsv.gz", gzip.compress(b"D1\thttp://x\tT\tone\nD2\thttp://y\t\ttwo\tmore\nD3\thttp://z\n"))
    write("d/msmarco-doctrain-queries.tsv", "1\tq\n")
    folder = write("d/msmarco-doctrain-qrels.tsv", "1 0 D1 1\n").parent
    imported = importing(folder)
    assert list(imported.collection) == [Document("D1", "T", "one"), Document("D2", "", "two\tmore")]
    assert imported.collection.qrels("train") == {"1": {"D1": 1}} and imported.rejects[0]["line"] == 3


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("qrels.dev.small.tsv", "dev.small"), ("qrels.train.tsv.gz", "train"), ("msmarco-docdev-qrels.tsv", "dev"), ("2019qrels-pass.txt", "2019"),
        ("passv2_dev_qrels.tsv", "dev"), ("qrels.tsv", "test"),
    ],
)  # fmt: skip
def test_splits(tmp_path, name, split):
    assert split_of(tmp_path / name) == split


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("collection.tsv", "\tno id\n", r"collection\.tsv:1: a document without an id"),
        ("queries.dev.tsv", "\tno id\n", r"queries\.dev\.tsv:1: a query without an id"),
        ("queries.dev.tsv", "q1\tone\nq1\ttwo\n", r"queries\.dev\.tsv:2: the id 'q1' has occurred before"),
        ("queries.dev.tsv", "q1\tone\nq1\tone\n", r"queries\.dev\.tsv:2: the id 'q1' has occurred before"),
        ("qrels.dev.tsv", "q1 0 7 high\n", r"qrels\.dev\.tsv:1: the grade 'high'"),
        ("dev-qrels.tsv", "q1 0 7 1\n", "two files with judgments of the split 'dev'"),
    ],
)
def test_refused(write, tmp_path, name, contents, message):
    write("m/collection.tsv", "7\tone\n")
    write("m/qrels.dev.tsv", "q1 0 7 1\n")
    write("m/queries.train.tsv", "q1\tother\n") if "queries" in name and "two" in contents else None
    folder = write(f"m/{name}", contents).parent
    with pytest.raises(UserError) as caught:
        import_collection(folder, tmp_path)
    assert re.search(message, str(caught.value))


def test_folders_without_documents(write, tmp_path):
    folder = write("m/qrels.dev.tsv", "q1 0 7 1\n").parent
    assert detect(folder) == "tsv"
    with pytest.raises(UserError, match=r"neither collection\.tsv nor docs\.tsv"):
        import_collection(folder, tmp_path, reader="msmarco")


def test_triples_of_ids_and_of_texts(write):
    ids = [triple[:3] for triple in read_triples(write("qidpidtriples.tsv", "1\t2\t3\n4 5 6\n"), ids=True)]
    assert ids == [("1", "2", "3"), ("4", "5", "6")]
    packed = write("triples.train.small.tsv.gz", gzip.compress("a query\tyes é\tno\n".encode()))
    assert list(read_triples(packed, ids=False)) == [Triple("a query", "yes é", "no", Place(str(packed), 1))]


def test_top1000(write):
    assert list(read_top1000(write("top1000.dev", "1\t2\ta query\ta\tpassage\n"))) == [Candidate("1", "2", "a query", "a\tpassage")]


@pytest.mark.parametrize(
    ("read", "line", "message"),
    [
        (read_ids, b"1\t2", ":2: 2 columns, expected 3"),
        (read_ids, b"1\t2\t3\t4", ":2: 4 columns"),
        (read_ids, b"1\t\t3", ":2: the positive id is empty"),
        (read_texts, b"one text\tanother text", ":2: 2 columns, expected 3"),
        (read_top1000, b"1\t2\t3", ":2: 3 columns, expected 4"),
    ],
)
def test_damaged_training_files(write, read, line, message):
    sound = b"1\t2\t3\t4" if read is read_top1000 else b"1\t2\t3"
    with pytest.raises(UserError, match=message):
        list(read(write("a.tsv", sound + b"\n" + line + b"\n")))


@pytest.mark.parametrize("read", [read_ids, read_texts, read_top1000])
def test_a_line_that_is_not_utf8_costs_one_row(write, read):
    found = list(read(write("a.tsv", b"1\t\xff\t3\t4\n" + (b"1\t2\t3\t4\n" if read is read_top1000 else b"1\t2\t3\n"))))
    assert [isinstance(row, Reject) for row in found] == [True, False] and found[0].place.line == 1


def test_training_files_are_streamed(write):
    path = write("triples.tsv", "query\tpositive text\tnegative text\n" * 50_000)
    tracemalloc.start()
    count = sum(1 for _ in read_texts(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 50_000 and peak < 1 << 20
