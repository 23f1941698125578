"""What makes a Hugging Face encoder train faster, and in less memory, on a CPU.

Attention: the fused kernel's backward pass is slow there (measured with 12 heads in bfloat16, both passes of one layer: 141
against 41 ms at 32 x 128 tokens, 200 against 110 ms at 8 x 512), so the scores are computed plainly. A GPU keeps its fused kernel.

Residual stream: under autocast the embeddings leave in bfloat16, and so all that is added to them stays in it. Otherwise the stream
is float32, and every linear layer first converts it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from retrolex.backbones import Backbone
from retrolex.backbones.fused import product_dtype

NAME = "retrolex"


def attend(query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None, dropout: float = 0.0, scaling: float | None = None) -> Tensor:
    """softmax(query key^T scaling + mask) value (RetroMAE, equation 5).

    Args:
        query, key, value: [B, heads, L, d].
        visible: bool, True where a row may look, or a float mask to add; broadcast to [B, heads, L, L]; None: everywhere.
        dropout: of the attention weights.
        scaling: 1 / sqrt(d) by default.

    Returns:
        [B, heads, L, d].
    """
    if query.device.type != "cpu":
        return F.scaled_dot_product_attention(query, key, value, attn_mask=visible, dropout_p=dropout, scale=scaling)
    scores = torch.matmul(query * (query.shape[-1] ** -0.5 if scaling is None else scaling), key.transpose(-1, -2))
    if visible is not None:
        if visible.dtype == torch.bool:
            visible = torch.zeros(visible.shape, dtype=scores.dtype).masked_fill_(~visible, torch.finfo(scores.dtype).min)
        scores += visible.to(scores.dtype)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(F.dropout(weights, dropout) if dropout else weights, value)


def make_fast(backbone: Backbone) -> None:
    """Let the encoder use `attend`, where its family lets its attention be chosen, and keep its stream narrow under autocast.

    transformers 5 lets all of ours choose. The families of 4.57 have the fused kernel written into them and keep it: the same numbers, more slowly.
    """
    backbone.embeddings.register_forward_hook(_narrow)
    AttentionInterface.register(NAME, _interface)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    if getattr(backbone.model, "_supports_attention_backend", False):
        backbone.model.set_attn_implementation(NAME)


def _narrow(module: nn.Module, inputs: Any, embedded: Tensor) -> Tensor:
    """Embeddings in autocast's precision, on a CPU."""
    return embedded.to(product_dtype(embedded)) if embedded.device.type == "cpu" else embedded


def _interface(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **rest: Any,
) -> tuple[Tensor, None]:
    """`attend` as transformers calls it: the result is [B, L, heads, d]."""
    return attend(query, key, value, attention_mask, dropout, scaling).transpose(1, 2).contiguous(), None
