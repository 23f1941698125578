"""Work in pieces on a Ray cluster, which needs the extra ``[ray]``.

A piece is a task: when the process or the machine that works on it dies, Ray starts it again elsewhere. So a piece has to be one that
may be done twice: one that only computes, or that writes files whole or not at all. Machines share the file system that the pieces write to.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from retrolex.errors import UserError
from retrolex.progress import say

Piece, Result = TypeVar("Piece"), TypeVar("Result")
ENGINES = ("here", "ray")
TRIES = 10  # how often a piece is started again after its process died
AHEAD = 4  # pieces that are handed out, for each that can run: enough to keep slow ones from holding up the others


def on_ray(work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
    """``work(piece)`` of every piece, in their order, like ``map``; `work`, pieces and results have to be picklable.

    It runs on the cluster that the environment variable ``RAY_ADDRESS`` names, else on this machine, one piece a core, or one a GPU where the cluster
    has GPUs.

    Raises:
        UserError: see `connect`; or a piece raised one.
        RuntimeError: a piece's process died again and again, or the cluster did.
    """
    ray = connect()
    gpus, cores = (int(ray.cluster_resources().get(name, 0)) for name in ("GPU", "CPU"))
    say(f"Ray: {gpus} GPUs, {cores} cores")
    task = ray.remote(num_cpus=1, num_gpus=1 if gpus else 0, max_retries=TRIES)(carry_out)
    shared = ray.put(work)
    running: deque[Any] = deque()
    try:
        for piece in pieces:
            running.append(task.remote(shared, piece))
            if len(running) == AHEAD * max(gpus or cores, 1):
                yield ray.get(running.popleft())
        while running:
            yield ray.get(running.popleft())
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        raise RuntimeError(f"Ray gave up; what is done is kept, and the same command goes on from there: {error}") from None


def carry_out(work: Callable[[Piece], Result], piece: Piece) -> Result:
    """One piece of a work."""
    return work(piece)


def connect() -> Any:
    """Ray, connected to its cluster, or started here.

    Raises:
        UserError: it is not installed, or the cluster is not reachable.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise UserError("Ray is not installed", mend="pip install 'retrolex[ray]'") from None
    if not ray.is_initialized():
        try:
            ray.init(include_dashboard=None if os.environ.get("RAY_ADDRESS") else False, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, ValueError) as error:
            raise UserError(f"no Ray cluster: {str(error).splitlines()[0]}", where="RAY_ADDRESS", mend="name a running cluster's address") from None
    return ray
