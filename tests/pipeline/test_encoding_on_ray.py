"""`retrolex encode --engine ray` on a real Ray of two workers, one of which is killed in the middle: nothing is lost, doubled or different."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest
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
ray = pytest.importorskip("ray", reason="needs the extra [ray]")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def two_workers(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR", object_store_memory=100 << 20)
    yield
    ray.shutdown()


def parent_of(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def is_ours(process: int) -> bool:
    """Whether a process descends from this one."""
    while process > 1 and process != os.getpid():
        process = parent_of(process)
    return process == os.getpid()


def workers() -> list[int]:
    """Processes of this test's Ray that are working on a shard."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::carry_out") and is_ours(int(path.parent.name)):
                found.append(int(path.parent.name))
        except OSError:
            continue  # it has ended meanwhile
    return found


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
    killed = []

    def kill_one() -> None:
        while not killed:
            if len(list((tmp_path / "calls").iterdir())) >= 3 and (at_work := workers()):
                os.kill(at_work[0], signal.SIGKILL)
                killed.append(at_work[0])
            time.sleep(0.02)

    monkeypatch.setattr(encoding, "make_shard", partial(slowly, tmp_path / "calls"))
    threading.Thread(target=kill_one, daemon=True).start()
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
