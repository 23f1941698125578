"""Large batches in small memory (Gao et al. 2021, arXiv:2101.06983): no more than one piece's activations are kept at a time.

1. Every piece of the batch is encoded without keeping activations; only the vectors stay.
2. The loss and its gradients with respect to the vectors are computed, as for any batch.
3. Every piece is encoded again, with activations and the same dropout, and its vectors' gradients go on to the parameters.

The parameters' gradients leave as those of one autograd function, so that DDP, accumulation and clipping see an ordinary loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

Losses = dict[str, Tensor]


def cached_losses(
    encode: Callable[[Any], Tensor], pieces: Sequence[Any], losses: Callable[[list[Tensor]], Losses], parameters: Sequence[Tensor]
) -> Losses:
    """The losses of vectors, as ``losses([encode(piece) for piece in pieces])`` gives them, with the same gradients.

    Args:
        encode: a piece to its vectors.
        pieces: parts of the batch, each small enough for the memory.
        losses: all pieces' vectors to scalars, of which ``loss`` is the one to minimise.
        parameters: what `encode` depends on and is trained.
    """
    device = parameters[0].device
    states, vectors = [], []
    with torch.no_grad():
        for piece in pieces:
            states.append(_random_state(device))
            vectors.append(encode(piece))
    leaves = [rows.detach().requires_grad_() for rows in vectors]
    with torch.enable_grad():
        found = losses(leaves)
        gradients = torch.autograd.grad(found["loss"], leaves)
    kind, autocast = device.type, torch.is_autocast_enabled(device.type)
    dtype = torch.get_autocast_dtype(kind)

    def replay() -> list[Tensor | None]:
        totals: list[Tensor | None] = [None] * len(parameters)
        for piece, state, gradient in zip(pieces, states, gradients, strict=True):
            with _replayed(state, device), torch.enable_grad(), torch.autocast(kind, dtype, enabled=autocast):
                rows = encode(piece)
            found = torch.autograd.grad(rows, parameters, gradient.to(rows.dtype), allow_unused=True)
            for i, value in enumerate(found):
                if value is not None:
                    totals[i] = value if totals[i] is None else totals[i].add_(value)
        return totals

    detached = {name: value.detach() for name, value in found.items()}
    return {**detached, "loss": _Cached.apply(detached["loss"], replay, *parameters)}


class _Cached(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, loss: Tensor, replay: Callable[[], list[Tensor | None]], *parameters: Tensor) -> Tensor:
        ctx.replay = replay
        return loss.clone()

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *(None if total is None else total.mul_(upstream.to(total.dtype)) for total in ctx.replay())


def _random_state(device: torch.device) -> tuple[Tensor, Tensor | None]:
    """Where the generators that dropout draws from stand."""
    return torch.get_rng_state(), torch.cuda.get_rng_state(device) if device.type == "cuda" else None


@contextmanager
def _replayed(state: tuple[Tensor, Tensor | None], device: torch.device) -> Iterator[None]:
    """The same random numbers again; afterwards the generators stand where they stood."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.set_rng_state(state[0])
        if state[1] is not None:
            torch.cuda.set_rng_state(state[1], device)
        yield
