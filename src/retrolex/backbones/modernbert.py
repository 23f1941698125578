"""ModernBERT: rotary positions, so the embedding layer knows no place and a decoder brings its own."""

from __future__ import annotations

from typing import Any

from torch import nn

from retrolex.backbones.base import Backbone


class ModernBert(Backbone):
    """``ModernBertForMaskedLM``."""

    @property
    def head(self) -> tuple[nn.Linear, nn.Module, nn.LayerNorm]:
        head = self.model.head
        return head.dense, head.act, head.norm

    def positions(self, length: int) -> None:
        return None

    @property
    def decoder_sizes(self) -> dict[str, Any]:
        config = self.model.config
        return {
            "hidden_size": config.hidden_size,
            "num_attention_heads": config.num_attention_heads,
            "intermediate_size": config.intermediate_size,
            "hidden_act": config.hidden_activation,
            "layer_norm_eps": config.norm_eps,
            "initializer_range": config.initializer_range,
            "hidden_dropout_prob": config.mlp_dropout,
            "attention_probs_dropout_prob": config.attention_dropout,
        }
