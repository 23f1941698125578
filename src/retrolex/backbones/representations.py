"""From hidden states to vectors."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from retrolex.backbones.base import Backbone
from retrolex.backbones.fused import max_logits


def pool(hidden: Tensor, attention_mask: Tensor, pooling: Literal["cls", "mean"]) -> Tensor:
    """One vector a text: hidden states [B, L, H] to [B, H], in float32."""
    if pooling == "cls":
        return hidden[:, 0].float()
    mask = attention_mask.unsqueeze(-1).to(torch.float32)
    return (hidden.float() * mask).sum(1) / mask.sum(1).clamp(min=1)


def text_mask(input_ids: Tensor, attention_mask: Tensor, special_ids: Tensor) -> Tensor:
    """Which positions [B, L] hold text: no padding, no special token. [MASK] counts as text, as in LexMAE's published code."""
    return attention_mask.bool() & (input_ids.unsqueeze(-1) != special_ids).all(-1)  # torch.isin does not translate to ONNX


def lexicon(backbone: Backbone, hidden: Tensor, mask: Tensor) -> Tensor:
    """Lexicon vectors [B, V]: log(1 + max over text positions of relu(logits)) (LexMAE, section 3.3; SPLADE-max).

    A text without a single text position has the zero vector. Nothing of size [B, L, V] is ever built.
    """
    return lexicon_weights(backbone, backbone.transform(hidden), mask)


def lexicon_weights(backbone: Backbone, transformed: Tensor, mask: Tensor) -> Tensor:
    """`lexicon` of hidden states that the LM head's transform has been applied to already."""
    weights = max_logits(transformed, mask, backbone.vocabulary_weight, backbone.vocabulary_bias)
    weights = torch.log1p(torch.relu(weights))
    return torch.where(mask.any(1, keepdim=True), weights, 0.0)
