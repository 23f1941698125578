"""`retrolex encode` and `mine --engine ray` on a real Ray of two workers, one of them killed in the middle: nothing is lost, doubled or different.

One file, so that one process starts one Ray for all of it.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import pytest
from tests.pipeline.ray_cluster import kill_one
from tests.pipeline.run_folders import build_run
from tests.pipeline.small import OBJECTS, SUBJECTS, write_collection

from retrolex.artifacts import content_hash, read_manifest
from retrolex.cluster import on_ray
from retrolex.encoding.ids import IDS, read_shard_ids
from retrolex.errors import UserError
from retrolex.finetuning import negatives
from retrolex.finetuning.mined import MiningOptions
from retrolex.finetuning.pairs import Pair, write_pairs
from retrolex.pipeline import encoding, mining, mining_sources, mining_systems

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the workers' processes in /proc"),
]
pytest.importorskip("ray", reason="needs the extra [ray]")
ask, make_shard = mining_systems.ask, encoding.make_shard
BLOCKS = 7  # of eight pairs


def encode_slowly(calls: Path, job: encoding.Job, place: Path, out: Path, number: int) -> None:
    """`make_shard` with a note of every call, and time for somebody to kill the process that makes it."""
    from retrolex.encoding import encoder

    encoder.bf16_pays = lambda: False
    (calls / f"{number}-{time.monotonic_ns()}").touch()
    time.sleep(1)
    make_shard(job, place, out, number)


def test_a_worker_is_killed_while_it_encodes(two_workers, tiny_model_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("retrolex.encoding.encoder.bf16_pays", lambda: False)
    source = write_collection(tmp_path / "notes")
    job = encoding.Job(str(source), str(tiny_model_folder), tmp_path / "ray", "lexicon", size=10)
    encoding.run_job(encoding.Job(str(source), str(tiny_model_folder), tmp_path / "here", "lexicon", size=10))
    (tmp_path / "calls").mkdir()
    monkeypatch.setattr(encoding, "make_shard", partial(encode_slowly, tmp_path / "calls"))
    killed = kill_one(lambda: len(list((tmp_path / "calls").iterdir())) >= 3)
    encoding.run_job(job, "ray")
    calls = [int(path.name.split("-")[0]) for path in (tmp_path / "calls").iterdir()]
    assert killed and set(calls) == set(range(6)) and len(calls) > 6  # one shard was begun again
    assert content_hash(tmp_path / "ray") == content_hash(tmp_path / "here")
    assert read_manifest(tmp_path / "ray")["counts"]["vectors"] == 56
    assert read_shard_ids(tmp_path / "ray" / IDS) == read_shard_ids(tmp_path / "here" / IDS)


def fail(piece: int) -> int:
    if piece == 2:
        raise UserError("this piece cannot be done", where="a place", mend="do something")
    return piece


def test_results_come_in_order_and_a_users_mistake_as_itself(two_workers):
    assert list(on_ray(abs, range(0, -30, -1))) == list(range(30))
    with pytest.raises(UserError, match=r"a place: this piece cannot be done\n.*do something"):
        list(on_ray(fail, range(4)))


def ask_slowly(calls: Path, base: Path, description: tuple, depth: int, texts: list[str]) -> list:
    """`ask` with a note of every call, and time for somebody to kill the process that answers."""
    from retrolex.encoding import encoder

    encoder.bf16_pays = lambda: False
    (calls / f"{dict(description)['kind']}-{time.monotonic_ns()}").touch()
    time.sleep(0.5)
    return ask(base, description, depth, texts)


def test_a_worker_is_killed_while_it_mines(two_workers, collection_folder, tiny_model_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("retrolex.encoding.encoder.bf16_pays", lambda: False)
    monkeypatch.setattr(negatives, "BLOCK", 8)
    run = build_run(collection_folder, tiny_model_folder, tmp_path / "run")
    asked = [f"what of the {subject} and {thing}" for subject in SUBJECTS for thing in OBJECTS]
    write_pairs(run / "pairs/train.jsonl", [Pair(query, "x", f"d{place}", f"d{place}", "lead") for place, query in enumerate(asked)])

    def job(output: str, engine: str) -> mining_sources.Job:
        return mining_sources.Job(
            str(run), ("bm25", "dense:20"), tmp_path / output, "retrolex", "train", None, None, "english", MiningOptions(), engine
        )

    counts = mining.run_job(job("here.jsonl", "here"))
    calls = tmp_path / "calls"
    calls.mkdir()
    monkeypatch.setattr(mining_systems, "ask", partial(ask_slowly, calls))
    killed = kill_one(lambda: len(list(calls.iterdir())) >= 3)
    assert mining.run_job(job("ray.jsonl", "ray")) == counts and counts["pairs"] == len(asked)
    begun = [path.name.split("-")[0] for path in calls.iterdir()]
    assert killed and min(begun.count("bm25"), begun.count("dense")) >= BLOCKS and len(begun) > 2 * BLOCKS  # one block was asked again
    assert (tmp_path / "ray.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    manifests = [(tmp_path / f"{name}.jsonl.manifest.json").read_bytes() for name in ("here", "ray")]
    assert manifests[0] == manifests[1]


def test_without_ray_it_says_so_before_anything_is_read(collection_folder, tmp_path, monkeypatch):
    def missing() -> None:
        raise UserError("Ray is not installed")

    monkeypatch.setattr(mining, "connect", missing)
    output = tmp_path / "out.jsonl"
    with pytest.raises(UserError, match="Ray is not installed"):
        mining.run_job(
            mining_sources.Job(str(collection_folder), ("bm25",), output, "retrolex", "test", None, None, "english", MiningOptions(), "ray")
        )
    assert [path.name for path in tmp_path.iterdir()] == [collection_folder.name]
