"""Trackers that a run reports to: TensorBoard and Weights & Biases, through the Trainer's own callbacks."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path

from retrolex.artifacts import LOGS
from retrolex.errors import UserError

TRACKERS = ("tensorboard", "wandb")  # names, and the modules that do the work


def check_trackers(names: Iterable[str]) -> None:
    """Every tracker named is known and installed.

    Raises:
        UserError: one is not.
    """
    for name in names:
        if name not in TRACKERS:
            raise UserError(f"no tracker {name!r}", where="report_to", mend=f"choose among {', '.join(TRACKERS)}")
        if importlib.util.find_spec(name) is None:
            raise UserError(f"the tracker {name!r} is not installed", where="report_to", mend=f"pip install {name}, or 'retrolex[track]' for both")


def trackers(names: Iterable[str], folder: Path, step: int) -> list:
    """Callbacks for the trackers named; losses, their parts, held-out losses and probe figures reach them.

    Args:
        names: of TRACKERS.
        folder: the model's; TensorBoard's files go to ``logs/tensorboard``, W&B's to ``logs/wandb``.
        step: where the run starts: what an earlier, killed attempt reported after it is taken back.

    Raises:
        UserError: see `check_trackers`.
    """
    check_trackers(names)
    if int(os.environ.get("RANK", "0")) != 0:
        return []
    found: list = []
    if "tensorboard" in names:
        from torch.utils.tensorboard import SummaryWriter
        from transformers.integrations import TensorBoardCallback

        found.append(TensorBoardCallback(SummaryWriter(str(folder / LOGS / "tensorboard"), purge_step=step + 1)))
    if "wandb" in names:
        from transformers.integrations import WandbCallback

        from retrolex.training_callbacks import OwnRun

        found += [OwnRun(folder / LOGS), WandbCallback()]
    return found
