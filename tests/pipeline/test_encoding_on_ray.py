"""`retrolex encode --engine ray` on a real Ray of two workers, one of which is killed in the middle: nothing is lost, doubled or different."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import pytest
from tests.pipeline.ray_cluster import kill_one
from tests.pipeline.small import write_collection

from retrolex.artifacts import content_hash, read_manifest
from retrolex.cluster import on_ray
from retrolex.encoding.ids import IDS, read_shard_ids
from retrolex.errors import UserError
from retrolex.pipeline import encoding
from retrolex.pipeline.encoding import Job, run_job

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the workers' processes in /proc"),
]
pytest.importorskip("ray", reason="needs the extra [ray]")


def slowly(calls: Path, job: Job, place: Path, out: Path, number: int) -> None:
    """`make_shard` with a note of every call, and time for somebody to kill the process that makes it."""
    from retrolex.encoding import encoder

    encoder.bf16_pays = lambda: False
    (calls / f"{number}-{time.monotonic_ns()}").touch()
    time.sleep(1)
    make_shard(job, place, out, number)


make_shard = encoding.make_shard


def test_a_worker_is_killed_in_the_middle(two_workers, tiny_model_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("retrolex.encoding.encoder.bf16_pays", lambda: False)
    source = write_collection(tmp_path / "notes")
    job = Job(str(source), str(tiny_model_folder), tmp_path / "ray", "lexicon", size=10)
    run_job(Job(str(source), str(tiny_model_folder), tmp_path / "here", "lexicon", size=10))
    (tmp_path / "calls").mkdir()
    monkeypatch.setattr(encoding, "make_shard", partial(slowly, tmp_path / "calls"))
    killed = kill_one(lambda: len(list((tmp_path / "calls").iterdir())) >= 3)
    run_job(job, "ray")
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
