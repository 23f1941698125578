"""A real Ray of two workers on this machine, and how to kill one of them while it works."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def cluster() -> Iterator[None]:
    """The cluster. Its processes find retrolex and these tests where this one does; `PYTHONPATH` and threads have to be set before."""
    import ray

    wanted = {"num_cpus": 2, "include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR", "object_store_memory": 100 << 20}
    try:
        ray.init(**wanted)
    except (RuntimeError, ConnectionError, TimeoutError):  # its servers have seconds to come up, which a busy machine may not give them
        ray.shutdown()
        ray.init(**wanted)
    try:
        yield
    finally:
        ray.shutdown()


def environment() -> dict[str, str]:
    """What the cluster's processes are started with."""
    return {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "OMP_NUM_THREADS": "1"}


def parent_of(process: int) -> int:
    """The parent of a process; 0 when it has ended."""
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
    """Processes of this test's Ray that are working on a piece."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::carry_out") and is_ours(int(path.parent.name)):
                found.append(int(path.parent.name))
        except OSError:
            continue  # it has ended meanwhile
    return found


def kill_one(due: Callable[[], bool]) -> list[int]:
    """Kill a worker at work, once, as soon as it is `due`; returns a list that will hold its process id."""
    killed: list[int] = []

    def watch() -> None:
        while not killed:
            if due() and (at_work := workers()):
                os.kill(at_work[0], signal.SIGKILL)
                killed.append(at_work[0])
            time.sleep(0.02)

    threading.Thread(target=watch, daemon=True).start()
    return killed
