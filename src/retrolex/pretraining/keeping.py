"""Keeping what a tuned start knows while it is pre-trained: which texts of a batch are alike, by the start and by what becomes of it.

    S_ij = 20 v_i . v_j / mean_k |u_k|^2,  i != j          u: the frozen start's vectors, v: those of the model being trained (U_ij: the same of u)
    L_keep = mean over i of KL(softmax_j U_ij || softmax_j S_ij)

For vectors of length 1 this is a temperature of 0.05, as in fine-tuning; elsewhere the start's lengths are the unit, so that the model's own
lengths still count, as they do in search. A text's similarity to itself says nothing and would take all of the softmax, so it is left out.

Both read the whole, unmasked text. A masked text is one that neither the start's tuning nor any search has ever seen, and a model can stay
the same on those while it drifts on real ones; and masked against whole would ask for something new rather than keep what is there. The price is
a second pass of the encoder through every batch, and the start's.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import kl_div, log_softmax, normalize

from retrolex.backbones import Backbone, Spec
from retrolex.backbones.representations import lexicon, pool
from retrolex.errors import UserError
from retrolex.pretraining.losses import share_of_mean, whole

NAME = "keep_start"  # of the weight among the options of pre-training
SCALE = 20.0


class Keeper:
    """The start as it was, and how far a model has gone from it.

    It is no module: the start is neither trained nor part of any checkpoint.

    Args:
        start: copied as it is now.
        spec: which vectors are kept: ``lexicon`` ones for that representation, else dense ones.
        weight: of L_keep in the loss.
    """

    def __init__(self, start: Backbone, spec: Spec, weight: float):
        self.start, self.spec, self.weight = copy.deepcopy(start).requires_grad_(False).eval(), spec, weight

    def __call__(self, model: Backbone, batch: dict[str, Tensor]) -> Tensor:
        """L_keep of the unmasked texts of a batch (see `batches.BatchMaker`)."""
        self.start.to(batch["input_ids"].device)
        with torch.no_grad():
            before = self.vectors(self.start, batch)
        kept, share = drift(before, self.vectors(model, batch)), share_of_mean(len(before), before.device, whole(batch, "texts"))
        return kept if share is None else kept * share

    def vectors(self, backbone: Backbone, batch: dict[str, Tensor]) -> Tensor:
        """A batch's vectors, [B, H] or [B, V], in float32."""
        hidden = backbone.hidden(batch["input_ids"], batch["attention_mask"])
        if self.spec.representation == "lexicon":
            return lexicon(backbone, hidden, batch["text_mask"]).float()
        vectors = pool(hidden, batch["attention_mask"], self.spec.pooling)
        return normalize(vectors, dim=-1) if self.spec.normalize else vectors


def drift(before: Tensor, after: Tensor) -> Tensor:
    """L_keep from the start's vectors and the model's, [B, D] each; 0 where there are fewer than three texts."""
    if len(before) < 3:
        return after.sum() * 0.0
    with torch.autocast(before.device.type, enabled=False):
        unit = before.square().sum(1).mean().clamp(min=1e-6)
        own = torch.eye(len(before), dtype=torch.bool, device=before.device)
        wanted, found = (log_softmax(others(SCALE * (part @ part.T) / unit, own), dim=1) for part in (before, after))
        return kl_div(found, wanted, reduction="batchmean", log_target=True)


def others(scores: Tensor, own: Tensor) -> Tensor:
    """A square matrix without its diagonal, [B, B] to [B, B - 1]."""
    return scores[~own].view(len(scores), -1)


def weight_of(options: dict[str, Any]) -> float:
    """The weight that pre-training's options state; 0 where they do not.

    Raises:
        UserError: it is not a number of 0 or more.
    """
    weight = options.get(NAME, 0.0)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight < float("inf"):
        raise UserError(f"{NAME} is {weight!r}, expected a number of 0 or more", where="pretrain.options", mend="correct the value, or leave it out")
    return float(weight)
