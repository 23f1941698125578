"""Stages that several processes carry out together, started by ``torchrun``: the first one owns the folders, the others only compute."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch

from retrolex.artifacts import Stage
from retrolex.pipeline.stages import execute

PATIENCE = timedelta(hours=12)  # that the others wait while the first one reads and tokenises the collection


def processes() -> int:
    """How many processes work together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def rank() -> int:
    """This process's number among them."""
    return int(os.environ.get("RANK", "0"))


def leads() -> bool:
    """Whether this is the process that writes."""
    return rank() == 0


@contextmanager
def rendezvous() -> Iterator[Callable[[], None]]:
    """Join the other processes, if there are any; yields a function at which all wait for each other."""
    if processes() == 1:
        yield lambda: None
        return
    gpu = torch.cuda.is_available()
    if gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    torch.distributed.init_process_group("nccl" if gpu else "gloo", timeout=PATIENCE)
    try:
        yield torch.distributed.barrier
    finally:
        torch.distributed.destroy_process_group()


def execute_together(stage: Stage, work: Callable[[Path], dict[str, Any] | None]) -> None:
    """Run a stage whose work all processes share; none leaves before its folder is published."""
    if processes() == 1:
        execute(stage, work)
        return

    def shared(out: Path) -> dict[str, Any] | None:
        torch.distributed.barrier()  # the folder is ready: an older attempt's checkpoints are either gone or this one's
        return work(out)

    if leads():
        execute(stage, shared)
    elif not stage.up_to_date():
        shared(stage.folder.with_name(stage.folder.name + ".partial"))
    torch.distributed.barrier()
