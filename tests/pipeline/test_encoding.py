"""`retrolex encode`: any source, killed or not, by one process or several: the same bytes, and an index that reads them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.pipeline.small import write_collection

from retrolex.artifacts import content_hash, read_manifest
from retrolex.collection import Collection
from retrolex.collection.importing import import_collection
from retrolex.encoding import Encoder
from retrolex.encoding.ids import IDS, read_shard_ids
from retrolex.encoding.shards import read_shards
from retrolex.errors import UserError
from retrolex.index import folder as index_room
from retrolex.pipeline.encoding import Job, run_job, spec_of

ROOT = Path(__file__).parents[2]
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
ODD = ["", " \n\t ", "हिन्दी 中文 \u0000 ok", "\u2028\ufeff\U0001f600", "the river floods the plain " * 20_000, "[SEP] [MASK]", "bread"]


@pytest.fixture(autouse=True)
def single_precision(monkeypatch) -> None:
    monkeypatch.setattr("retrolex.encoding.encoder.bf16_pays", lambda: False)


@pytest.fixture
def source(tmp_path) -> Path:
    return write_collection(tmp_path / "notes")


def worker(*arguments: object, launch: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *launch, "-m", "tests.encoding.encode_worker", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def rows(folder: Path) -> np.ndarray:
    return np.concatenate([shard if isinstance(shard, np.ndarray) else shard.toarray() for shard in read_shards(folder)])


@pytest.mark.parametrize("representation", ["dense", "lexicon"])
def test_documents_are_what_the_encoder_makes_of_them(representation, source, tiny_model_folder, tmp_path):
    top_k = 9 if representation == "lexicon" else None
    job = Job(str(source), str(tiny_model_folder), tmp_path / "out", representation, length=24, top_k=top_k, size=10)
    run_job(job)
    (tmp_path / "collection").mkdir()
    import_collection(source, tmp_path / "collection")
    collection = Collection.open(tmp_path / "collection")
    expected = Encoder(tiny_model_folder, representation, spec=spec_of(job), top_k=job.top_k).encode([document.full for document in collection])
    np.testing.assert_allclose(rows(job.output), expected if representation == "dense" else expected.toarray(), atol=1e-5)
    assert read_shard_ids(job.output / IDS) == collection.ids
    manifest = read_manifest(job.output)
    assert manifest["config"]["spec"]["document_length"] == 24 and manifest["config"]["spec"]["representation"] == representation
    assert manifest["config"]["model"]["sha256"] and manifest["counts"]["vectors"] == 56 and manifest["counts"]["shards"] == 6
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("out")) == ["out"]


def test_an_imported_collection_and_its_source_give_the_same(source, tiny_model_folder, tmp_path):
    (tmp_path / "collection").mkdir()
    import_collection(source, tmp_path / "collection")
    for name, given in (("a", source), ("b", tmp_path / "collection")):
        for kind in ("document", "query"):
            run_job(Job(str(given), str(tiny_model_folder), tmp_path / f"{name}-{kind}", kind=kind))
    for kind in ("document", "query"):
        assert content_hash(tmp_path / f"a-{kind}") == content_hash(tmp_path / f"b-{kind}")
    assert read_shard_ids(tmp_path / "a-query" / IDS) == [f"q{i}" for i in range(8)]


def test_files_of_queries(tiny_model_folder, tmp_path):
    (tmp_path / "q.jsonl").write_text('{"_id": "a b", "query": "bread"}\n{"_id": "2", "query": "the river"}\n', encoding="utf-8")
    (tmp_path / "q.tsv").write_text("a b\tbread\nno tab\n2\tthe river\n", encoding="utf-8")
    for name in ("q.jsonl", "q.tsv"):
        run_job(Job(str(tmp_path / name), str(tiny_model_folder), tmp_path / f"{name}.out", kind="query"))
        assert read_shard_ids(tmp_path / f"{name}.out" / IDS) == ["a b", "2"]
    np.testing.assert_array_equal(rows(tmp_path / "q.jsonl.out"), rows(tmp_path / "q.tsv.out"))
    reject = json.loads((tmp_path / "q.tsv.out" / "rejects.jsonl").read_text(encoding="utf-8"))
    assert (reject["file"], reject["line"]) == ("q.tsv", 2) and read_manifest(tmp_path / "q.tsv.out")["counts"]["rejects"] == 1


@pytest.mark.parametrize("representation", ["dense", "lexicon"])
def test_odd_texts_all_come_out(representation, tiny_model_folder, tmp_path):
    lines = [json.dumps({"_id": f"id {i}\n", "text": text}) for i, text in enumerate(ODD)]
    (tmp_path / "odd.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run_job(Job(str(tmp_path / "odd.jsonl"), str(tiny_model_folder), tmp_path / "out", representation, length=64))
    vectors = rows(tmp_path / "out")
    assert read_shard_ids(tmp_path / "out" / IDS) == [f"id {i}\n" for i in range(len(ODD))] and len(vectors) == len(ODD)
    assert np.isfinite(vectors).all()
    if representation == "lexicon":
        assert not vectors[:2].any() and vectors[6].any()


@pytest.mark.parametrize("representation", ["dense", "lexicon"])
def test_the_index_reads_what_was_encoded(representation, source, tiny_model_folder, tmp_path):
    for kind in ("document", "query"):
        run_job(Job(str(source), str(tiny_model_folder), tmp_path / kind, representation, kind, dtype="float16", size=10))
    weights = "float" if representation == "lexicon" else "round"
    index = index_room.add(tmp_path / "index", tmp_path / "document", None, None, 1.0, "flat", weights)
    asked = index_room.queries(tmp_path / "index", tmp_path / "query", None, None, 1.0)
    found, _ = index_room.search(index, asked, 5, 1)
    scores = rows(tmp_path / "query") @ rows(tmp_path / "document").T
    assert list(found) == [f"q{i}" for i in range(8)]
    for row, hits in zip(scores, found.values(), strict=True):
        np.testing.assert_allclose([score for _, score in hits], np.sort(row)[::-1][:5], rtol=1e-4)


@pytest.mark.parametrize(("representation", "files"), [("dense", 1), ("lexicon", 4)])
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_kill_9_costs_one_shard_and_no_byte(representation, files, source, tiny_model_folder, tmp_path, monkeypatch):
    monkeypatch.undo()  # in the machine's own precision, bfloat16 and integers where it has them
    job = Job(str(source), str(tiny_model_folder), tmp_path / "killed", representation, size=10)
    arguments = [source, "--model", tiny_model_folder, "--representation", representation, "--shard-size", 10, "--output", job.output]
    done = worker("--die", 3 * files, tmp_path / "killed.partial", *arguments)  # while the third shard's last file is written
    left = json.loads(done.stdout.splitlines()[0])
    whole = [name for name in left if name[:11] in ("shard-00000", "shard-00001")]
    assert len(whole) == 2 * files and f"shard-00002{'' if files == 1 else '.shape'}.dead.writing" in left
    assert all((job.output / name).stat().st_mtime_ns == left[name] for name in whole)  # not made again
    run_job(replace(job, output=tmp_path / "undisturbed"))
    assert content_hash(job.output) == content_hash(tmp_path / "undisturbed")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "notes", "undisturbed"]


@pytest.mark.slow
@pytest.mark.parametrize("representation", ["dense", "lexicon"])
def test_two_processes_write_what_one_does(representation, source, tiny_model_folder, tmp_path, monkeypatch):
    monkeypatch.undo()
    arguments = [source, "--model", tiny_model_folder, "--representation", representation, "--shard-size", 10, "--output"]
    run_job(Job(str(source), str(tiny_model_folder), tmp_path / "one", representation, size=10))
    done = worker(*arguments, tmp_path / "two", launch=TORCHRUN)
    assert done.stdout.count("Vectors:") == 1 and done.stderr.count("Encoding notes: 3 done") == 2  # three of the six shards each
    assert content_hash(tmp_path / "one") == content_hash(tmp_path / "two")
    again = worker(*arguments, tmp_path / "two", launch=TORCHRUN)
    assert "up to date, skipped" in again.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"representation": "dupmae"}, "not written by themselves"),
        ({"kind": "passage"}, "no kind 'passage'"),
        ({"dtype": "int8"}, "no dtype 'int8'"),
        ({"top_k": 3}, "a top K of dense"),
        ({"length": 100}, "positions for 64 tokens"),
        ({"model": "/nowhere/at/all"}, "no such folder"),
        ({"source": "/nowhere/at/all"}, "nowhere"),
    ],
)
def test_mistakes(change, words, source, tiny_model_folder, tmp_path):
    with pytest.raises(UserError, match=words):
        run_job(Job(**({"source": str(source), "model": str(tiny_model_folder), "output": tmp_path / "out"} | change)))
    with pytest.raises(UserError, match="no engine 'spark'"):
        run_job(Job(str(source), str(tiny_model_folder), tmp_path / "out"), "spark")
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_nothing_to_encode(tiny_model_folder, tmp_path):
    (tmp_path / "notes.txt").write_text("bread\n", encoding="utf-8")
    (tmp_path / "twice.tsv").write_text("1\ta\n1\tb\n", encoding="utf-8")
    for name, words in (("notes.txt", "notes.txt:1: no queries in it"), ("twice.tsv", "twice.tsv:2: the id '1' has occurred before")):
        with pytest.raises(UserError, match=words):
            run_job(Job(str(tmp_path / name), str(tiny_model_folder), tmp_path / "out", kind="query"))
    run_job(Job(str(tmp_path / "notes.txt"), str(tiny_model_folder), tmp_path / "documents"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["documents", "notes.txt", "twice.tsv"]


def test_ray_absent(source, tiny_model_folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"Ray is not installed\n.*retrolex\[ray\]"):
        run_job(Job(str(source), str(tiny_model_folder), tmp_path / "out"), "ray")
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
