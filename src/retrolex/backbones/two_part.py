"""DupMAE's aggregated representation: a short dense vector and a few lexicon terms, scored as a sum (Liu et al. 2023, arXiv:2305.02564, eq. 12).

    score(q, d) = (W_cls h_q) . (W_cls h_d) + sum over the K strongest terms i of d of mu_q[i] mu_d[i]

h: the first token's last hidden state; W_cls: 384 x H; mu = log(1 + max over text positions of relu(logits)), K = 384 for documents, all
terms for queries. (The paper takes mu without relu and logarithm. With them its two summands are of one size from the start, and no
weight is negative, as an inverted index wants it.)

Both parts lie side by side in one vector [384 + V], whose inner product is the score.
"""

from __future__ import annotations

from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from retrolex.errors import UserError

FILE = "two_part.safetensors"
WIDTH, TERMS = 384, 384


def new_projection(hidden_size: int, seed: int) -> nn.Linear:
    """W_cls with orthogonal rows, which keep inner products as well as so few can; the identity where nothing has to be left out."""
    projection = nn.Linear(hidden_size, min(WIDTH, hidden_size), bias=False)
    generator = torch.Generator().manual_seed(seed)
    if hidden_size <= WIDTH:
        nn.init.eye_(projection.weight)
    else:
        nn.init.orthogonal_(projection.weight, generator=generator)
    return projection


def save_projection(projection: nn.Linear, folder: Path) -> None:
    """Write ``two_part.safetensors`` into a model folder."""
    safetensors.torch.save_file({"weight": projection.weight.detach().float().cpu().contiguous()}, folder / FILE)


def read_projection(folder: Path) -> nn.Linear:
    """What `save_projection` wrote.

    Raises:
        UserError: the folder has none.
    """
    try:
        weight = safetensors.torch.load_file(folder / FILE)["weight"]
    except (FileNotFoundError, SafetensorError, KeyError):
        raise UserError(f"no projection of the dense part here ({FILE})", where=folder, mend="fine-tune with representation dupmae") from None
    projection = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    projection.load_state_dict({"weight": weight})
    return projection


def joined(sentence: Tensor, weights: Tensor, terms: int | None) -> Tensor:
    """One vector of both parts.

    Args:
        sentence: the projected dense part [B, W].
        weights: lexicon weights [B, V].
        terms: how many of the strongest to keep (documents); None: all (queries).

    Returns:
        [B, W + V] in float32.
    """
    if terms is not None and terms < weights.shape[1]:
        kept = torch.zeros_like(weights, dtype=torch.bool).scatter_(1, weights.detach().topk(terms, dim=1).indices, True)
        weights = torch.where(kept, weights, 0.0)
    return torch.cat([sentence.float(), weights.float()], dim=1)
