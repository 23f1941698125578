"""`retrolex mine --engine ray` on a real Ray of two workers, one of which is killed in the middle: nothing is lost, doubled or different."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import pytest
from tests.pipeline.ray_cluster import kill_one
from tests.pipeline.run_folders import build_run
from tests.pipeline.small import OBJECTS, SUBJECTS

from retrolex.errors import UserError
from retrolex.finetuning import negatives
from retrolex.finetuning.mined import MiningOptions
from retrolex.finetuning.pairs import Pair, write_pairs
from retrolex.pipeline import mining, mining_systems
from retrolex.pipeline.mining import run_job
from retrolex.pipeline.mining_sources import Job

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the workers' processes in /proc"),
]
pytest.importorskip("ray", reason="needs the extra [ray]")
ask = mining_systems.ask
BLOCKS = 7  # of eight pairs


def slowly(calls: Path, base: Path, description: tuple, depth: int, texts: list[str]) -> list:
    """`ask` with a note of every call, and time for somebody to kill the process that answers."""
    from retrolex.encoding import encoder

    encoder.bf16_pays = lambda: False
    (calls / f"{dict(description)['kind']}-{time.monotonic_ns()}").touch()
    time.sleep(0.5)
    return ask(base, description, depth, texts)


def test_a_worker_is_killed_in_the_middle(two_workers, collection_folder, tiny_model_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("retrolex.encoding.encoder.bf16_pays", lambda: False)
    monkeypatch.setattr(negatives, "BLOCK", 8)
    run = build_run(collection_folder, tiny_model_folder, tmp_path / "run")
    asked = [f"what of the {subject} and {thing}" for subject in SUBJECTS for thing in OBJECTS]
    write_pairs(run / "pairs/train.jsonl", [Pair(query, "x", f"d{place}", f"d{place}", "lead") for place, query in enumerate(asked)])

    def job(output: str, engine: str) -> Job:
        return Job(str(run), ("bm25", "dense:20"), tmp_path / output, "retrolex", "train", None, None, "english", MiningOptions(), engine)

    counts = run_job(job("here.jsonl", "here"))
    calls = tmp_path / "calls"
    calls.mkdir()
    monkeypatch.setattr(mining_systems, "ask", partial(slowly, calls))
    killed = kill_one(lambda: len(list(calls.iterdir())) >= 3)
    assert run_job(job("ray.jsonl", "ray")) == counts and counts["pairs"] == len(asked)
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
        run_job(Job(str(collection_folder), ("bm25",), output, "retrolex", "test", None, None, "english", MiningOptions(), "ray"))
    assert [path.name for path in tmp_path.iterdir()] == [collection_folder.name]
