"""Rows in = documents + queries + judgments + listed rejects, for every reader, whatever mixture of rows; counted here the slow way."""

from __future__ import annotations

import csv
import io
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.collection import Collection, import_collection
from retrolex.collection.readers import READERS
from retrolex.errors import UserError

unhurried = settings(deadline=None, max_examples=40)


def accounted(source: str | Path, reader: str, **options) -> int | None:
    """Rows that an import accounts for: what the collection holds and what is listed; None after a UserError."""
    with tempfile.TemporaryDirectory() as target:
        try:
            counts = import_collection(source, Path(target), reader=reader, **options)
        except UserError:
            return None
        collection = Collection.open(target)
        listed = [json.loads(line) for line in Path(target, "rejects.jsonl").read_text(encoding="utf-8").splitlines()]
        assert len(listed) == counts["rejects"] and all(row["file"] and row["line"] and row["reason"] for row in listed)
        judged = sum(len(grades) for split in collection.splits for grades in collection.qrels(split).values())
        assert (len(list(collection)), len(collection.queries), judged) == (counts["documents"], counts["queries"], sum(counts["judgments"].values()))
        return len(collection) + len(collection.queries) + judged + len(listed)


def visible_lines(contents: bytes) -> int:
    """Lines with something to see, or that are not UTF-8."""
    return sum(bool(line.decode(errors="replace").strip()) for line in contents.split(b"\n"))


class Lines(NamedTuple):
    """A file of rows: its place in the source, rows that may come (%d is their number), and how many rows that makes."""

    reader: str
    source: str
    name: str
    rows: list[bytes]
    count: Callable[[bytes], int] = visible_lines
    sound: bytes = b""
    beside: tuple[str, bytes] | None = None


def csv_rows(contents: bytes) -> int:
    """Rows of comma-separated values below the header, but for empty lines."""
    return sum(len(row) > 1 or bool(row and row[0].strip()) for row in csv.reader(io.StringIO(contents.decode("utf-8", "replace"), newline=""))) - 1


def blocks_and_rest(contents: bytes) -> int:
    """Documents, and lines of text between them."""
    return contents.count(b"<DOC>") + contents.count(b"outside")


JSON_ROWS = [
    b'{"_id": "%d", "text": "x"}',
    b'{"_id": %d, "text": "\xe9"}',
    b'{"_id": %d, "text": [1]}',
    b'{"_id": %d}',
    b'{"_id": "%d", "text": ""}',
    b" ",
]
JSON_ROWS += [b'{"_id": "%d", "text": "\\ud800"}', b'{"_id": "%d", "title": "only"}']
TSV_ROWS = [b"%d\tx", b"%d\ta\tb", b"%d", b"%d\t", b"%d\t\xff", b"  ", b"%d\ta NUL \x00 in it"]
CSV_ROWS = [b"%d,x", b"%d", b"%d,a,b", b'%d,"a\nb"', b"%d,\xff", b"", b",", b'%d,""']
ONE_DOCUMENT = ("corpus.jsonl", b'{"_id": "1", "text": "x"}')
CASES = {
    "jsonl": Lines("jsonl", "a.jsonl", "a.jsonl", JSON_ROWS, sound=b'{"_id": "first", "text": "x"}\n'),
    "lines": Lines("lines", "a.txt", "a.txt", [b"x", b"\xff", b"", b"a NUL \x00 in it", b"\t"], sound=b"x\n"),
    "tsv": Lines("tsv", "a.tsv", "a.tsv", TSV_ROWS, sound=b"first\tx\n"),
    "csv": Lines("csv", "a.csv", "a.csv", CSV_ROWS, csv_rows, b"id,text\nfirst,x\n"),
    "beir documents": Lines("beir", "c", "corpus.jsonl", JSON_ROWS, sound=b'{"_id": "first", "text": "x"}\n'),
    "beir queries": Lines("beir", "c", "queries.jsonl", JSON_ROWS, sound=b'{"_id": "first", "text": "x"}\n', beside=ONE_DOCUMENT),
    "beir qrels": Lines("beir", "c", "qrels/test.tsv", [b"q\td%d\t1", b"q\td1\t1", b"", b"q\t0\te%d\t0"], beside=ONE_DOCUMENT),
    "msmarco passages": Lines("msmarco", "m", "collection.tsv", TSV_ROWS, sound=b"first\tx\n"),
    "msmarco documents": Lines("msmarco", "m", "docs.tsv", [b"%d\tu\tt\tb", b"%d\tu\tt", b"%d\tu\tt\tb\tb", b"%d\xff"], sound=b"first\tu\tt\tb\n"),
    "msmarco queries": Lines("msmarco", "m", "queries.dev.tsv", TSV_ROWS, beside=("collection.tsv", b"1\tx\n")),
    "msmarco qrels": Lines("msmarco", "m", "qrels.dev.tsv", [b"q 0 d%d 1", b"q 0 d 1", b""], beside=("collection.tsv", b"1\tx\n")),
    "trec documents": Lines(
        "trec", "t", "docs",
        [b"<DOC><DOCNO>%d</DOCNO>x</DOC>", b"<DOC>\n<DOCNO>%d</DOCNO>\n\xff\n</DOC>", b"outside", b"<x>", b"<DOC><DOCNO>%d</DOCNO></DOC>", b"</DOC>"],
        blocks_and_rest, b"<DOC><DOCNO>first</DOCNO>x</DOC>\n",
    ),
    "trec topics": Lines(
        "trec", "t", "topics", [b"<top><num> Number: %d <title> x </top>", b"<top><num>%d<desc>x</top>", b"<top>\n<num> %d\n<title>\xff\n</top>"],
        lambda contents: contents.count(b"<top>"), b"<top><num>first<title>x</top>\n", ("docs", b"<DOC><DOCNO>1</DOCNO>x</DOC>"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@unhurried
@given(data=st.data())
def test_files_of_rows(case, data):
    reader, source, name, rows, count, sound, beside = CASES[case]
    drawn = data.draw(st.lists(st.sampled_from(rows), max_size=12))
    contents = sound + b"\n".join(row % number if b"%d" in row else row for number, row in enumerate(drawn))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, source, name) if name != source else Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if beside:
            Path(folder, source, beside[0]).write_bytes(beside[1])
        path.write_bytes(contents)
        found = accounted(Path(folder, source), reader)
    assert found == count(contents) + bool(beside)


FIELDS = st.one_of(st.none(), st.integers(0, 9), st.text(max_size=3))


@unhurried
@given(texts=st.lists(st.one_of(st.none(), st.binary(max_size=3), st.just("é".encode())), min_size=1, max_size=20))
@pytest.mark.parametrize("form", ["parquet", "hf"])
def test_tables_with_bytes_that_may_not_be_text(form, texts):
    column = pa.array(texts, pa.binary()).view(pa.string())  # as a damaged writer leaves them
    table = pa.table({"id": [str(number) for number in range(len(texts))], "text": column})
    with tempfile.TemporaryDirectory() as folder:
        if form == "parquet":
            pq.write_table(table, Path(folder, "a.parquet"))
            found = accounted(Path(folder, "a.parquet"), "parquet")
        else:
            datasets = pytest.importorskip("datasets", reason="the package datasets is not installed")
            datasets.disable_progress_bars()
            datasets.Dataset(table).save_to_disk(Path(folder, "d"))
            found = accounted(Path(folder, "d"), "hf")
    assert found == len(texts) or (found is None and not any(decodes(text) for text in texts))


def decodes(text: bytes | None) -> bool:
    """Whether bytes are UTF-8; a missing text is an empty one."""
    try:
        return (text or b"").decode() is not None
    except UnicodeDecodeError:
        return False


@unhurried
@given(contents=st.dictionaries(st.sampled_from(["a.txt", "b.md", "c.html", "d/e.htm", "f.txt"]), st.binary(max_size=20), min_size=1))
def test_text_folders(contents):
    with tempfile.TemporaryDirectory() as folder:
        for name, raw in contents.items():
            Path(folder, name).parent.mkdir(exist_ok=True)
            Path(folder, name).write_bytes(raw)
        found = accounted(folder, "text_folder")
    assert found is None or found == len(contents)


class Doc(NamedTuple):
    """A document as ir_datasets has them."""

    doc_id: str
    title: object
    text: object


@unhurried
@given(rows=st.lists(st.tuples(FIELDS, st.one_of(FIELDS, st.just(b"bytes"), st.just(["list"]))), min_size=1, max_size=20))
def test_a_catalogue(rows):
    documents = [Doc(str(number), *row) for number, row in enumerate(rows)]
    loaded = mock.Mock(docs_cls=lambda: Doc, docs_iter=lambda: iter(documents), has_queries=lambda: False, has_qrels=lambda: False)
    catalogue = ModuleType("ir_datasets")
    catalogue.load = lambda id: loaded
    with mock.patch.dict(sys.modules, ir_datasets=catalogue):
        found = accounted("ir_datasets:made/up", "ir_datasets")
    assert found == len(rows) or (found is None and all(isinstance(document.text, (bytes, list)) for document in documents))


def test_every_reader_is_counted_here():
    counted = {case.reader for case in CASES.values()} | {"parquet", "hf", "text_folder", "ir_datasets"}
    assert counted | {"sample"} == set(READERS)  # a sample has no rows of a user's
