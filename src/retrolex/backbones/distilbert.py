"""DistilBERT."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from retrolex.backbones.base import Backbone


class DistilBert(Backbone):
    """``DistilBertForMaskedLM``."""

    @property
    def head(self) -> tuple[nn.Linear, nn.Module, nn.LayerNorm]:
        return self.model.vocab_transform, self.model.activation, self.model.vocab_layer_norm

    def embed(self, input_ids: Tensor | None = None, inputs_embeds: Tensor | None = None) -> Tensor:
        return self.embeddings(input_ids, inputs_embeds)

    @property
    def decoder_sizes(self) -> dict[str, Any]:
        config = self.model.config
        return {
            "hidden_size": config.dim,
            "num_attention_heads": config.n_heads,
            "intermediate_size": config.hidden_dim,
            "hidden_act": config.activation,
            "layer_norm_eps": 1e-12,
            "initializer_range": config.initializer_range,
            "hidden_dropout_prob": config.dropout,
            "attention_probs_dropout_prob": config.attention_dropout,
        }
