"""Cross-entropy over the labelled positions only, averaged over all labels of a step alike: of all its batches, in all processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from retrolex.backbones.fused import linear_cross_entropy
from retrolex.tokens.masks import IGNORED


class Whole(NamedTuple):
    """What a batch is a part of, where a step has several: how many they are, and what their losses are averages of, together.

    Attributes:
        batches: of the step, in this process.
        count: labels, or texts, of all of them: an integer tensor [].
    """

    batches: int
    count: Tensor


def whole(batch: dict[str, Tensor], name: str) -> Whole | None:
    """The whole of a field ``NAME_whole`` [2]; None where the batch is a step by itself."""
    stated = batch.get(f"{name}_whole")
    return None if stated is None else Whole(int(stated[0]), stated[1])


def wholes(batches: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The fields that `whole` reads, for the batches of one step: of every field of labels, and of the texts."""
    names = [name for name in batches[0] if name.endswith("_labels")]
    counts = {name: sum(int(batch[name].ne(IGNORED).sum()) for batch in batches) for name in names}
    counts["texts"] = sum(len(batch["input_ids"]) for batch in batches)
    return {f"{name}_whole": torch.tensor([len(batches), count]) for name, count in counts.items()}


def labelled_places(labels: Tensor) -> tuple[Tensor, Tensor]:
    """Flat positions [N] that have a label in [B, L], and their labels [N]."""
    places = labels.flatten().ne(IGNORED).nonzero().squeeze(1)
    return places, labels.flatten().index_select(0, places)


def labelled(hidden: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Rows [N, H] of hidden states [B, L, H] at positions with a label, and their labels [N]."""
    places, chosen = labelled_places(labels)
    return hidden.flatten(0, 1).index_select(0, places), chosen


def vocabulary_loss(transformed: Tensor, labels: Tensor, weight: Tensor, bias: Tensor, step: Whole | None = None) -> Tensor:
    """Mean cross-entropy of transformed rows [N, H] (after the LM head's transform) at labels [N]; see `share_of_mean`."""
    loss = linear_cross_entropy(transformed, weight, bias, labels)
    share = share_of_mean(len(labels), labels.device, step)
    return loss if share is None else loss * share


def share_of_mean(count: int, device: torch.device, step: Whole | None = None) -> Tensor | None:
    """The factor that makes a batch's mean a share of the mean over all batches of a step; None where there is one batch.

    Gradients are averaged over the step's batches, in this process and others, each of which may hold a different count: weighted so,
    the average equals the mean that one process would compute over one large batch.
    """
    together = torch.distributed.is_available() and torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1
    if not together and step is None:
        return None
    batches, own = (1, torch.tensor(count, device=device)) if step is None else step
    total = own.to(device, torch.float32)
    if together:
        torch.distributed.all_reduce(total)
        batches *= torch.distributed.get_world_size()
    return count * batches / total.clamp(min=1.0)
