"""One loss over all processes' texts: what they exchange, and how gradients find their way back.

DDP averages gradients over the processes. Each process's loss is therefore written so that the *mean* of all of them is the loss of the
whole batch; every function here passes each process's gradient on to where the numbers came from, and adds up what arrives.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from torch import Tensor, distributed


def count() -> int:
    """Processes that train together."""
    return distributed.get_world_size() if distributed.is_available() and distributed.is_initialized() else 1


def rank() -> int:
    """This process's number among them."""
    return distributed.get_rank() if distributed.is_available() and distributed.is_initialized() else 0


def launched() -> tuple[int, int]:
    """Number of processes and this one's rank as the launcher states them, before they have found each other."""
    return int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))


def gather(rows: Tensor) -> Tensor:
    """All processes' rows, [N, D] to [processes * N, D], in the order of ranks; N is the same in each."""
    return _Gather.apply(rows) if count() > 1 else rows


def mean(values: Tensor) -> Tensor:
    """The mean of a tensor over the processes."""
    return _Mean.apply(values) if count() > 1 else values


def reported(losses: dict[str, Tensor]) -> dict[str, Tensor]:
    """Losses with their values averaged over the processes; the gradient of ``loss`` stays this process's own."""
    if count() == 1:
        return losses
    means = torch.stack([value.detach().float() for value in losses.values()])
    distributed.all_reduce(means)
    averaged = dict(zip(losses, means / count(), strict=True))
    return {**averaged, "loss": losses["loss"] + (averaged["loss"] - losses["loss"]).detach()}


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        parts = [torch.empty_like(rows) for _ in range(count())]
        distributed.all_gather(parts, rows.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> Tensor:
        upstream = upstream.contiguous().clone()
        distributed.all_reduce(upstream)
        return upstream.chunk(count())[rank()]


class _Mean(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        values = values.clone()
        distributed.all_reduce(values)
        return values / count()

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> Tensor:
        upstream = upstream.contiguous().clone()
        distributed.all_reduce(upstream)
        return upstream / count()
