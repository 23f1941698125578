"""Cross-entropy over the labelled positions only, averaged over all processes' labels alike."""

from __future__ import annotations

import torch
from torch import Tensor

from retrolex.backbones.fused import linear_cross_entropy
from retrolex.tokens.masks import IGNORED


def labelled(hidden: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Rows [N, H] of hidden states [B, L, H] at positions with a label, and their labels [N]."""
    places = labels.flatten().ne(IGNORED).nonzero().squeeze(1)
    return hidden.flatten(0, 1).index_select(0, places), labels.flatten().index_select(0, places)


def vocabulary_loss(transformed: Tensor, labels: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Mean cross-entropy of transformed rows [N, H] (after the LM head's transform) at labels [N]."""
    loss = linear_cross_entropy(transformed, weight, bias, labels)
    share = share_of_mean(len(labels), labels.device)
    return loss if share is None else loss * share


def share_of_mean(count: int, device: torch.device) -> Tensor | None:
    """The factor that makes this process's mean a share of the mean over all processes; None where there is one process.

    Gradients are averaged over the processes, each of which may hold a different count: weighted so, the average
    equals the mean that one process would compute over the whole batch.
    """
    if not (torch.distributed.is_available() and torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1):
        return None
    total = torch.tensor(float(count), device=device)
    torch.distributed.all_reduce(total)
    return count * torch.distributed.get_world_size() / total.clamp(min=1.0)
