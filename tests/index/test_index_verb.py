"""`retrolex index`: vectors of several tools in, a run out; changes that readers never see half of."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

from retrolex.cli.app import app
from retrolex.encoding.shards import encode_shards
from retrolex.errors import UserError
from retrolex.evaluation.runs import read_run
from retrolex.index.folder import open_index
from retrolex.index.lexicon import SegmentedLexiconIndex

DOCUMENTS = {"d1": {"engine": 150, "jet": 300}, "d2": {"wing": 120}, "d3": {"engine": 40, "wing": 200}}
QUERIES = {"q1": {"engine": 100, "unheard": 50}, "q2": {"wing": 100, "jet": 10}}
EXPECTED = {"q1": [("d1", 15000), ("d3", 4000)], "q2": [("d3", 20000), ("d2", 12000), ("d1", 3000)]}


def index(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["index", *map(str, arguments)], catch_exceptions=True)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output + result.stderr


def lines(path, vectors, **extra):
    text = "".join(json.dumps({"id": id, **extra, "vector": vector}) + "\n" for id, vector in vectors.items())
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def plain(path) -> dict:
    return {query: [(id, round(score)) for id, score in hits] for query, hits in read_run(path).items()}


@pytest.mark.parametrize(("name", "extra"), [("anserini.jsonl", {"contents": "…"}), ("seismic.json", {"content": "…"}), ("tevatron.jsonl.gz", {})])
def test_vectors_keyed_by_term(tmp_path, name, extra):
    documents, queries = lines(tmp_path / name, DOCUMENTS, **extra), lines(tmp_path / "queries.jsonl", QUERIES)
    said = index(tmp_path / "i", "--add", documents, "--scale", 0.01, "--search", queries, "-o", tmp_path / "run.trec")
    assert plain(tmp_path / "run.trec") == EXPECTED
    assert "1 query weights left out" in said and "3 documents in 1 segments" in said


def test_add_delete_and_merge(tmp_path):
    index(tmp_path / "i", "--add", lines(tmp_path / "a.jsonl", {"d1": DOCUMENTS["d1"], "old": {"new term": 5, "wing": 999}}), "--scale", 0.01)
    index(tmp_path / "i", "--add", lines(tmp_path / "b.jsonl", {id: DOCUMENTS[id] for id in ("d2", "d3")}), "--scale", 0.01)
    (tmp_path / "gone.txt").write_text("old\n", encoding="utf-8")
    queries = lines(tmp_path / "q.jsonl", QUERIES)
    for change in (["--delete", tmp_path / "gone.txt"], ["--merge"], []):
        index(tmp_path / "i", *change, "--search", queries, "--scale", 0.01, "-o", tmp_path / "run.trec")
        assert plain(tmp_path / "run.trec") == EXPECTED
    said = index(tmp_path / "i", "--search", queries, "--scale", 0.01, "--approximate", "-k", 10, "-o", tmp_path / "run.trec")
    assert plain(tmp_path / "run.trec") == EXPECTED and "recall@10 1.000 against exact" in said


def test_arrays(tmp_path):
    rng = np.random.default_rng(0)
    rows, asked = rng.standard_normal((1500, 16)).astype(np.float32), rng.standard_normal((3, 16)).astype(np.float32)
    (tmp_path / "ids.txt").write_text("".join(f"d{i}\n" for i in range(1500)), encoding="utf-8")
    (tmp_path / "q.txt").write_text("a\nb\nc\n", encoding="utf-8")
    np.save(tmp_path / "rows.npy", rows)
    np.save(tmp_path / "asked.npy", asked)
    index(tmp_path / "flat", "--add", tmp_path / "rows.npy")
    index(tmp_path / "flat", "--search", tmp_path / "asked.npy", "--ids", tmp_path / "q.txt", "-k", 5, "-o", tmp_path / "flat.trec")
    expected = [[f"d{i}" for i in np.argsort(-(rows @ query))[:5]] for query in asked]
    assert [[id for id, _ in hits] for hits in read_run(tmp_path / "flat.trec").values()] == expected
    said = index(tmp_path / "pq", "--add", tmp_path / "rows.npy", "--kind", "pq")
    assert "recall@10" in said
    said = index(tmp_path / "pq", "--search", tmp_path / "asked.npy", "--ids", tmp_path / "q.txt", "-k", 5, "-o", tmp_path / "pq.trec")
    assert "recall@5" in said and "against exact" in said
    sparse.save_npz(tmp_path / "rows.npz", sparse.csr_matrix(np.maximum(rows, 0)))
    index(tmp_path / "lexicon", "--add", tmp_path / "rows.npz")
    (tmp_path / "shards").mkdir()
    encode_shards(1500, lambda a, b: list(range(a, b)), lambda at: sparse.csr_array(np.maximum(rows[at], 0)), tmp_path / "shards", "x")
    index(tmp_path / "own", "--add", tmp_path / "shards", "--ids", tmp_path / "ids.txt")
    one, other = open_index(tmp_path / "lexicon"), open_index(tmp_path / "own")
    query = sparse.csr_array(np.maximum(asked, 0))
    assert one.run(["a", "b", "c"], query, 9) == other.run(["a", "b", "c"], query, 9)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "a", "vector": {"x": 1}}\n{"id": "b"}\n', r"bad\.jsonl:2: expected"),
        ('{"id": "a", "vector": [1, 2]}\n{"id": "b", "vector": [1]}\n', r"bad\.jsonl:2: a vector unlike"),
        ('{"id": "a", "vector": {"x": "much"}}\n', r"bad\.jsonl:1: expected"),
        ('{"id": "a", "vector": {"x": -1}}\n', "has the weight -1"),
        ('{"id": "a", "vector": {"x": 1}}\n{"id": "a", "vector": {"x": 1}}\n', "comes twice"),
        ("", "no vectors here"),
    ],
)
def test_bad_vectors_leave_nothing(tmp_path, content, message):
    (tmp_path / "bad.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        index(tmp_path / "i", "--add", tmp_path / "bad.jsonl")
    assert not (tmp_path / "i").exists()


def test_pickles_are_not_read_and_the_way_round_works(tmp_path, monkeypatch):
    """Tevatron's: vectors and ids. What the message says to run gives what can be indexed."""
    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    (tmp_path / "folder").mkdir()
    for name in ("corpus.pkl", "folder/corpus.0.pkl", "named-otherwise"):
        with open(tmp_path / name, "wb") as file:
            pickle.dump((rows, ["d1", "ünlike", "d 3"]), file)
    for arguments in (["corpus.pkl"], ["folder"], ["named-otherwise"], ["corpus.pkl", "--from", "npy"]):
        with pytest.raises(UserError, match="pickles are not read") as refused:
            index(tmp_path / "i", "--add", tmp_path / arguments[0], *arguments[1:])
        assert not (tmp_path / "i").exists()
    monkeypatch.chdir(tmp_path)
    command = str(refused.value).split('"')[1]
    subprocess.run([sys.executable, "-c", command], check=True, timeout=60)
    index("i", "--add", "vectors.npy", "--search", "vectors.npy", "-k", 1, "-o", "run.jsonl")
    assert list(read_run(tmp_path / "run.jsonl")) == ["d1", "ünlike", "d 3"]


@pytest.mark.parametrize(("name", "content"), [("x.bin", b"\xff\xfe\x00"), ("x.jsonl.gz", b"no gzip"), ("y.jsonl.gz", gzip.compress(b"{}")[:-9])])
def test_what_is_no_text_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match="not JSON lines"):
        index(tmp_path / "i", "--add", tmp_path / name)
    assert not (tmp_path / "i").exists()


def test_ids_for_json_lines_are_refused(tmp_path):
    (tmp_path / "ids.txt").write_text("other\n", encoding="utf-8")
    with pytest.raises(UserError, match="ids of their own"):
        index(tmp_path / "i", "--add", lines(tmp_path / "a.jsonl", DOCUMENTS), "--ids", tmp_path / "ids.txt")
    assert not (tmp_path / "i").exists()


def test_readers_see_whole_states_while_a_writer_works(tmp_path):
    """A reader that opens again and again finds 10, 20, ... documents and the hits that go with them, never anything between."""
    rows = sparse.csr_array(np.arange(1, 201, dtype=np.float32).reshape(-1, 1))
    writer = SegmentedLexiconIndex.create(tmp_path / "i", "round")
    done, faults, seen = threading.Event(), [], set()

    def read():
        while not done.is_set():
            try:
                reader = SegmentedLexiconIndex.open(tmp_path / "i")
                hits = reader.search(sparse.csr_array([[1.0]]), 1000)[0][0] if len(reader) else []
                seen.add(len(reader))
                if len(hits) != len(reader) or len(reader) % 10:
                    faults.append(f"{len(hits)} hits of {len(reader)} documents")
            except Exception as error:  # whatever it is, it is a fault
                faults.append(repr(error))

    reader = threading.Thread(target=read)
    reader.start()
    for start in range(0, 200, 10):
        writer.add([f"d{i}" for i in range(start, start + 10)], rows[start : start + 10])
        if start % 50 == 40:
            writer.merge()
    writer.delete([f"d{i}" for i in range(100)])
    writer.merge()
    done.set()
    reader.join()
    assert not faults and len(seen) > 1
