"""Two vocabulary-wide computations that never build the [tokens, vocabulary] matrix of logits.

A vocabulary of 30,000 makes the logits by far the largest tensor of a masked language model, and most of its time.
Both functions work through it in chunks and equal the full computation in value and in gradient.

Under autocast the matrix products run in the lower precision; sums over chunks and all results are float32.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

ROWS = 512  # rows of logits held at a time: enough for full matrix-product speed, 31 MB in bfloat16 at V = 30,522
WORDS = 8192  # rows of the weight's gradient that are computed at a time
COLUMNS = 512  # positions whose logits `max_logits` holds at a time


def linear_cross_entropy(hidden: Tensor, weight: Tensor, bias: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy of softmax(hidden weight^T + bias) at the labels; 0 where there is no row at all.

    The gradients are computed together with the loss, chunk by chunk, while the logits are at hand.

    Args:
        hidden: [N, H], rows that carry a label only.
        weight: [V, H].
        bias: [V].
        labels: [N], each in [0, V).

    Returns:
        A scalar, in float32 (float64 for float64 inputs).
    """
    if labels.numel() == 0:
        return hidden.float().sum() * 0.0
    wanted = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (hidden, weight, bias))
    return _LinearCrossEntropy.apply(hidden, weight, bias, labels, product_dtype(hidden), wanted)


def max_logits(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """max over the positions in the mask of hidden weight^T + bias; a text with an empty mask gets the bias alone.

    Args:
        hidden: [B, L, H].
        mask: [B, L] bool.
        weight: [V, H].
        bias: [V].

    Returns:
        [B, V] in float32 (float64 for float64 inputs). The gradient of each entry flows to the one position that attains
        the maximum; entries without gradient (after a relu nearly all of them) cost nothing in the backward pass.
    """
    wanted = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (hidden, weight))
    peaks = _MaxProduct.apply(hidden, mask, weight, product_dtype(hidden), wanted)
    return peaks + bias  # the bias is the same at every position, so it can wait until after the maximum


def product_dtype(tensor: Tensor) -> torch.dtype:
    """The precision that a matrix product with this tensor has here: autocast's, or the tensor's own."""
    kind = tensor.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) and tensor.dtype != torch.float64 else tensor.dtype


def sum_dtype(dtype: torch.dtype) -> torch.dtype:
    """The precision in which sums are kept."""
    return torch.float64 if dtype == torch.float64 else torch.float32


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, labels: Tensor, dtype: torch.dtype, wanted: bool) -> Tensor:
        with torch.autocast(hidden.device.type, enabled=False):
            loss, *gradients = _loss_and_gradients(hidden.to(dtype), weight.to(dtype), bias.to(dtype), labels, wanted)
        if wanted:
            ctx.save_for_backward(*(gradient.to(dtype) for gradient in gradients))  # as narrow as a linear layer's would be
            ctx.dtypes = hidden.dtype, weight.dtype, bias.dtype
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        gradients = [gradient.to(dtype) for gradient, dtype in zip(ctx.saved_tensors, ctx.dtypes, strict=True)]
        if upstream.device.type != "cpu" or upstream.item() != 1.0:  # on a CPU a needless pass over [V, H] is worth avoiding
            gradients = [gradient * upstream.to(gradient.dtype) for gradient in gradients]
        return *gradients, None, None, None


def _loss_and_gradients(hidden: Tensor, weight: Tensor, bias: Tensor, labels: Tensor, wanted: bool) -> tuple[Tensor, ...]:
    """Mean loss and, if wanted, its gradients with respect to hidden [N, H], weight [V, H] and bias [V]."""
    count, total = len(labels), sum_dtype(hidden.dtype)
    loss = torch.zeros((), dtype=total, device=hidden.device)
    size = -(-count // -(-count // ROWS))  # chunks of equal size
    buffer = torch.empty(size, weight.shape[0], dtype=hidden.dtype, device=hidden.device)
    if wanted:
        hidden_gradient = torch.empty_like(hidden)
        weight_gradient = torch.zeros(weight.shape, dtype=total, device=weight.device)
        bias_gradient = torch.zeros(bias.shape, dtype=total, device=weight.device)
        ones = torch.full((1, size), 1.0, dtype=hidden.dtype, device=hidden.device)
    for start in range(0, count, size):
        rows, targets = hidden[start : start + size], labels[start : start + size, None]
        scores = buffer[: len(rows)]
        torch.addmm(bias, rows, weight.t(), out=scores)
        torch.softmax(scores, -1, out=scores)  # in place: from here on `scores` holds probabilities
        chosen = scores.gather(1, targets).to(total).squeeze(1)
        losses = -chosen.log()
        lost = chosen < torch.finfo(scores.dtype).tiny  # the probability underflowed: take these few from the logits
        if lost.any():
            logits = torch.addmm(bias, rows[lost], weight.t()).to(total)
            losses[lost] = torch.logsumexp(logits, -1) - logits.gather(1, targets[lost]).squeeze(1)
        loss += losses.sum()
        if wanted:
            places = torch.arange(len(rows), device=hidden.device) * weight.shape[0] + targets.squeeze(1)
            scores.view(-1).index_copy_(0, places, (chosen - 1).to(scores.dtype))  # d loss / d logits = probabilities - one-hot
            torch.mm(scores, weight, out=hidden_gradient[start : start + size])
            for words in range(0, weight.shape[0], WORDS):  # each part is added while it is in the cache
                weight_gradient[words : words + WORDS] += torch.mm(scores[:, words : words + WORDS].t(), rows).to(total)
            bias_gradient += torch.mm(ones[:, : len(rows)], scores).squeeze(0)
    if not wanted:
        return (loss / count,)
    return loss / count, hidden_gradient.div_(count), weight_gradient.div_(count), bias_gradient.div_(count)


class _MaxProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, mask: Tensor, weight: Tensor, dtype: torch.dtype, wanted: bool) -> Tensor:
        with torch.autocast(hidden.device.type, enabled=False):
            narrow = hidden.to(dtype)
            peaks, places = _peaks(narrow, mask, weight.to(dtype), wanted)
        if wanted:
            ctx.save_for_backward(narrow, weight, places)  # the weight as it is, which takes no memory
            ctx.dtypes = hidden.dtype, weight.dtype
        return peaks

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, places = ctx.saved_tensors
        with torch.autocast(hidden.device.type, enabled=False):
            hidden_gradient, weight_gradient = _route(upstream, hidden, weight.to(hidden.dtype), places)
        return hidden_gradient.to(ctx.dtypes[0]), None, weight_gradient.to(ctx.dtypes[1]), None, None


def _peaks(hidden: Tensor, mask: Tensor, weight: Tensor, wanted: bool) -> tuple[Tensor, Tensor | None]:
    """Largest products [B, V] and, if wanted, the position [B, V] int32 of each; -1 where a text has no position at all."""
    texts, words, device = len(hidden), len(weight), hidden.device
    peaks = torch.zeros(texts, words, dtype=sum_dtype(hidden.dtype), device=device)
    places = torch.full((texts, words), -1, dtype=torch.int32, device=device) if wanted else None
    counts = mask.sum(1)
    # Positions in the mask come first; a text with fewer than its neighbours repeats its first one, which changes no maximum.
    order = torch.argsort(mask.logical_not().to(torch.uint8), dim=1, stable=True)
    order = torch.where(torch.arange(mask.shape[1], device=device) < counts[:, None], order, order[:, :1])
    lengths = counts.tolist()
    start = 0
    while start < texts:
        stop, longest = start + 1, max(lengths[start], 1)
        while stop < texts and max(longest, lengths[stop]) * (stop + 1 - start) <= COLUMNS:
            longest, stop = max(longest, lengths[stop]), stop + 1
        columns = order[start:stop, :longest]
        rows = hidden[start:stop].gather(1, columns[..., None].expand(-1, -1, hidden.shape[2])).reshape(-1, hidden.shape[2])
        products = torch.mm(weight, rows.t()).view(words, stop - start, longest)
        if places is None:
            peaks[start:stop] = products.amax(-1).t()
        else:
            values, winners = products.max(-1)
            peaks[start:stop] = values.t()
            places[start:stop] = columns.gather(1, winners.t()).to(torch.int32)
        start = stop
    empty = counts == 0
    if empty.any():
        peaks[empty] = 0.0
        if places is not None:
            places[empty] = -1
    return peaks, places


def _route(upstream: Tensor, hidden: Tensor, weight: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of hidden [B, L, H] and weight [V, H]: each entry of upstream [B, V] goes to the position that won it.

    Both are sparse-times-dense products, so both are sums over bags of rows.
    """
    texts, length, width = hidden.shape
    words, text = torch.where(places.ge(0) & upstream.ne(0), upstream, 0.0).t().nonzero(as_tuple=True)  # ordered by word
    values = upstream[text, words].to(weight.dtype)
    rows = text * length + places[text, words]
    weight_gradient = _bags(rows, hidden.reshape(-1, width), words, len(weight), values)
    order = torch.argsort(rows, stable=True)
    hidden_gradient = _bags(words[order], weight, rows[order], texts * length, values[order])
    return hidden_gradient.view(texts, length, width), weight_gradient


def _bags(members: Tensor, table: Tensor, bags: Tensor, count: int, values: Tensor) -> Tensor:
    """out[b] = sum over i with bags[i] = b of values[i] * table[members[i]], for ascending `bags`; [count, H]."""
    starts = torch.searchsorted(bags, torch.arange(count, device=bags.device))
    return F.embedding_bag(members, table, starts, mode="sum", per_sample_weights=values)
