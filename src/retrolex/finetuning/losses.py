"""What fine-tuning minimises. Q queries, each with a group of G documents of its own, the positive first.

Documents come as one matrix [Q * G, D], group after group; D is the width of the vectors (H dense, V lexicon). Each function gives this
process's part of a loss whose mean over all processes is the loss of the whole batch.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, log_softmax, mse_loss, softmax

from retrolex.finetuning import processes


def info_nce(queries: Tensor, documents: Tensor, *, scale: float = 1.0, excluded: Tensor | None = None, own: Tensor | None = None) -> Tensor:
    """Cross-entropy of finding a query's positive among all documents of the batch (LexMAE, stages 1 and 2; RetroMAE likewise).

    Args:
        queries: [Q, D].
        documents: [N, D], those of other processes included; all but a query's positive are its negatives.
        scale: what inner products are multiplied by: the inverse of the temperature.
        excluded: bool [Q, N], True where a document is no negative of the query: another positive of it, or the same
            text as its positive. The positives themselves must be False.
        own: [Q], the row of each query's positive; None: the first of its group, i * N / Q.

    Returns:
        Average over queries, in nats.
    """
    scores = scale * queries @ documents.T
    if excluded is not None:
        scores = scores.masked_fill(excluded, float("-inf"))
    if own is None:
        own = torch.arange(len(queries), device=scores.device) * (len(documents) // len(queries))
    return cross_entropy(scores, own)


def group_scores(queries: Tensor, documents: Tensor) -> Tensor:
    """Inner products of each query with its own group: [Q, D] and [Q * G, D] to [Q, G]."""
    return torch.einsum("qd,qgd->qg", queries, documents.view(len(queries), -1, documents.shape[1]))


def distillation(scores: Tensor, teacher: Tensor) -> Tensor:
    """KL divergence of the student's from the teacher's distribution over the group, averaged over queries (LexMAE, stage 3).

    Args:
        scores, teacher: [Q, G] scores by student and teacher, before the softmax.
    """
    return kl_div(log_softmax(scores, dim=-1), softmax(teacher, dim=-1), reduction="batchmean")


def margin_mse(scores: Tensor, teacher: Tensor) -> Tensor:
    """Mean squared error of the margins between positive and negatives (Hofstätter et al. 2020).

    Args:
        scores, teacher: [Q, G], the positive in column 0, G >= 2.
    """
    return mse_loss(scores[:, :1] - scores[:, 1:], teacher[:, :1] - teacher[:, 1:])


def flops(*weights: Tensor) -> Tensor:
    """Expected multiplications of a sparse dot product (Paria et al. 2020): sum over terms of (mean over texts of |w|) squared.

    The mean is over the texts of all processes. The sum over terms is not linear in it, so averaging the processes' own sums would not do.

    Args:
        weights: [N, V] each; the mean runs over all their rows, N being the same in each.
    """
    return processes.mean(torch.stack([part.abs().mean(0) for part in weights]).mean(0)).square().sum()
