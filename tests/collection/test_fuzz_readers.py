"""Whatever the bytes: documents, or one UserError; and every row is accounted for."""

from __future__ import annotations

import gzip
import json
import tempfile
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retrolex.collection import Collection, import_collection
from retrolex.collection.readers import READERS, detect
from retrolex.errors import UserError

BESIDE = {  # what a folder needs beside the file that is fuzzed
    "c": ("corpus.jsonl", b'{"_id": "1", "text": "x"}\n'),
    "m": ("collection.tsv", b"1\tx\n"),
    "t": ("docs", b"<DOC><DOCNO>1</DOCNO>x</DOC>\n"),
    "h": ("dataset_info.json", b"{}"),
}
LINES = ["a.jsonl", "a.csv", "a.tsv", "a.txt"]
IN_FOLDERS = ["f/a.md", "f/a.html", "c/corpus.jsonl", "c/queries.jsonl", "c/qrels/test.tsv", "m/collection.tsv", "m/docs.tsv", "m/queries.dev.tsv"]
IN_FOLDERS += ["m/qrels.dev.tsv", "t/docs", "t/topics.xml", "t/topics", "t/qrels", "h/state.json"]
FILES = [*LINES, "a.parquet", "a.trec", *IN_FOLDERS]
FRAGMENTS = [
    b'{"_id": "1", "text": "x"}',
    b'{"id": ',
    b'"',
    b"\n",
    b"\r",
    b"\0",
    b",",
    b"\t",
    b"[",
    b"}",
    b"\xff",
    b"\xc3\xa9",
    b"\xef\xbb\xbf",
    b"id,text",
    b"1",
    b"<DOC>",
    b"</doc>",
    b"<DOCNO>7</DOCNO>",
    b"<top><num>",
    b"<topic number='1'><title>",
    b"</top>",
    b"<!--",
    b"<script>",
    b"<p a='",
    b" 0 1 1",
]
noise = st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(FRAGMENTS), max_size=30).map(b"".join))
unhurried = settings(deadline=None)  # files are written: a busy disk is no failure


def attempt(source: Path) -> dict | None:
    """Counts of an import whose collection could be opened, or None after a UserError. Anything else fails the test."""
    with tempfile.TemporaryDirectory() as target:
        try:
            counts = import_collection(source, Path(target))
        except UserError:
            return None
        assert len(list(Collection.open(target))) == counts["documents"] > 0
        rejects = Path(target, "rejects.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["line"] > 0 for line in rejects] == [True] * counts["rejects"]
        return counts


def place(folder: Path, name: str, contents: bytes) -> Path:
    """Put contents into a file of this name, beside a sound one where the layout wants it; returns the source."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if (layout := Path(name).parts[0]) in BESIDE:
        beside, sound = BESIDE[layout]
        (folder / layout / beside).write_bytes(sound)
    path.write_bytes(contents)
    return folder / Path(name).parts[0]


@pytest.mark.parametrize("name", FILES)
@unhurried
@given(contents=noise)
@example(contents=b"")
def test_random_bytes(name, contents):
    with tempfile.TemporaryDirectory() as folder:
        attempt(place(Path(folder), name, contents))


@unhurried
@given(
    rows=st.lists(st.sampled_from([b'{"_id": %d, "text": "x"}', b'{"_id": %d, "text": "\xe9"}', b'{"_id": %d, "text": [1]}', b'{"_id": %d}', b"  "]))
)
def test_rows_in_are_documents_and_rejects(rows):
    lines = [b'{"_id": "first", "text": "x"}', *(row % i if b"%d" in row else row for i, row in enumerate(rows))]
    with tempfile.TemporaryDirectory() as folder:
        counts = attempt(place(Path(folder), "a.jsonl", b"\n".join(lines)))
    assert counts["documents"] + counts["rejects"] == sum(bool(line.strip()) for line in lines)


@unhurried
@given(cut=st.integers(0, 10_000), flip=st.integers(0, 10_000), name=st.sampled_from([f"{name}.gz" for name in [*LINES, *IN_FOLDERS]]))
def test_damaged_gzip(cut, flip, name):
    packed = bytearray(gzip.compress(b"".join(b'{"_id": "%d", "text": "row, %d"}\n' % (i, i * i) for i in range(300))))
    packed[flip % len(packed)] ^= 0x55
    with tempfile.TemporaryDirectory() as folder:
        attempt(place(Path(folder), name, bytes(packed[: cut % len(packed)])))
        attempt(place(Path(folder), name, bytes(packed)))


@unhurried
@given(cut=st.integers(0, 10_000), flip=st.integers(0, 10_000))
def test_damaged_parquet(cut, flip):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": [str(i) for i in range(50)], "text": [f"text {i}" for i in range(50)]}), sink)
    whole = bytearray(sink.getvalue().to_pybytes())
    with tempfile.TemporaryDirectory() as folder:
        attempt(place(Path(folder), "a.parquet", bytes(whole[: cut % len(whole)])))
        whole[flip % len(whole)] ^= 0x55
        attempt(place(Path(folder), "a.parquet", bytes(whole)))


def one_row(name: str, text: bytes) -> bytes:
    """A file of this name with one document of this text in one line."""
    rows = {"a.jsonl": b'{"_id": "1", "text": "%s"}', "a.csv": b"id,text\n1,%s", "a.tsv": b"1\t%s", "a.trec": b"<DOC><DOCNO>1</DOCNO>%s</DOC>"}
    rows |= {"m/collection.tsv": rows["a.tsv"], "c/corpus.jsonl": rows["a.jsonl"], "t/docs": rows["a.trec"]}
    return rows.get(name, b"%s") % text


ONE_ROW = [*LINES, "a.trec", "f/a.md", "f/a.html", "m/collection.tsv"]


@pytest.mark.parametrize("name", ONE_ROW)
def test_a_line_of_five_million_characters(tmp_path, name):
    assert attempt(place(tmp_path, name, one_row(name, b"word " * 1_000_000)))["documents"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_ROW)
def test_a_line_of_a_hundred_million_characters(tmp_path, name):
    assert attempt(place(tmp_path, name, one_row(name, b"word " * 20_000_000)))["documents"] == 1


@pytest.mark.parametrize("name", LINES[:3])
def test_huge_ids(tmp_path, name):
    """An id of a million characters is an id; a repeated one is refused in a message that a screen can hold."""
    id = b"9" * 1_000_000
    row = {"a.jsonl": b'{"_id": "%s", "text": "x"}\n', "a.csv": b"%s,x\n", "a.tsv": b"%s\tx\n"}[name] % id
    assert attempt(place(tmp_path, name, row))["documents"] == 1
    with pytest.raises(UserError, match="has occurred before") as caught:
        import_collection(place(tmp_path, name, row * 2), tmp_path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", ["a.jsonl", "c/corpus.jsonl", "c/queries.jsonl"])
def test_huge_numbers_as_ids(tmp_path, name):
    assert attempt(place(tmp_path, name, b'{"_id": %s, "text": "x"}' % (b"9" * 5000))) is None
    assert attempt(place(tmp_path, name, b'{"_id": %s, "text": "x"}' % (b"9" * 400)))["documents"] == 1


@pytest.mark.parametrize("name", FILES)
def test_nul_bytes(tmp_path, name):
    """A few are text, many make a file that is no text."""
    source = place(tmp_path, name, one_row(name, b"a long enough text with one \0 in it"))
    counts = attempt(source)
    assert counts is None or sum(counts["judgments"].values()) + counts["documents"] + counts["queries"] + counts["rejects"] > 0
    attempt(place(tmp_path, name, b"\0" * 5000))


@pytest.mark.parametrize(
    "deep", [b"[" * 200_000, b'{"_id": "1", "text": ' + b'{"a":' * 200_000, b'{"_id":"1","text":' + b"[" * 5000 + b"]" * 5000 + b"}"]
)
def test_deep_json(tmp_path, deep):
    assert attempt(place(tmp_path, "a.jsonl", deep)) is None


@pytest.mark.parametrize("name", [*LINES, "m/collection.tsv", "a.trec"])
def test_memory_does_not_grow_with_the_source(tmp_path, name):
    """Reading 40 MB holds less than 2 MB at any time."""
    text = "w" * 4000
    rows = {"a.jsonl": f'{{"_id": "%d", "text": "{text}"}}\n', "a.csv": f"%d,{text}\n", "a.txt": f"%d {text}\n"}
    row = rows | {"a.tsv": f"%d\t{text}\n", "m/collection.tsv": f"%d\t{text}\n", "a.trec": f"<DOC>\n<DOCNO>%d</DOCNO>\n{text}\n</DOC>\n"}
    source = place(tmp_path, name, b"")
    with open(tmp_path / name, "w", encoding="utf-8") as file:
        file.writelines(row[name] % i for i in range(10_000))
    tracemalloc.start()
    count = sum(1 for _ in READERS[detect(source)].read(source, {}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 10_000 and peak < 2 << 20
