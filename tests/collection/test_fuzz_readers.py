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

FILES = ["a.jsonl", "a.csv", "a.tsv", "a.txt", "a.parquet", "f/a.md", "c/corpus.jsonl", "c/queries.jsonl", "c/qrels/test.tsv"]
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
    """Put contents into a file of this name beside a good corpus where the layout wants one; returns the source."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.startswith("c/"):
        (folder / "c" / "corpus.jsonl").write_bytes(b'{"_id": "1", "text": "x"}\n')
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
@given(
    cut=st.integers(0, 10_000), flip=st.integers(0, 10_000), name=st.sampled_from(["a.jsonl.gz", "a.csv.gz", "a.tsv.gz", "a.txt.gz", "f/a.txt.gz"])
)
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


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt", "f/a.md"])
def test_a_line_of_five_million_characters(tmp_path, name):
    word = b"word " * 1_000_000
    row = {"a.jsonl": b'{"_id": "1", "text": "' + word + b'"}', "a.csv": b"id,text\n1," + word, "a.tsv": b"1\t" + word}.get(name, word)
    assert attempt(place(tmp_path, name, row))["documents"] == 1


@pytest.mark.parametrize(
    "deep", [b"[" * 200_000, b'{"_id": "1", "text": ' + b'{"a":' * 200_000, b'{"_id":"1","text":' + b"[" * 5000 + b"]" * 5000 + b"}"]
)
def test_deep_json(tmp_path, deep):
    assert attempt(place(tmp_path, "a.jsonl", deep)) is None


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt"])
def test_memory_does_not_grow_with_the_source(tmp_path, name):
    """Reading 40 MB holds less than 2 MB at any time."""
    text = "w" * 4000
    row = {"a.jsonl": f'{{"_id": "%d", "text": "{text}"}}\n', "a.csv": f"%d,{text}\n", "a.tsv": f"%d\t{text}\n", "a.txt": f"%d {text}\n"}[name]
    with open(tmp_path / name, "w", encoding="utf-8") as file:
        file.writelines(row % i for i in range(10_000))
    source = tmp_path / name
    tracemalloc.start()
    count = sum(1 for _ in READERS[detect(source)].read(source, {}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 10_000 and peak < 2 << 20
