"""A masked language model seen as the four parts every objective needs: embeddings, encoder, LM head, vocabulary."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel


class Backbone(nn.Module):
    """Adapter around a Hugging Face masked LM; a family adds the few names that differ.

    Attributes:
        model: the ``...ForMaskedLM``, which holds every parameter.
        head_is_new: the checkpoint came without a trained LM head, and `retrolex.backbones.heads` made one.
    """

    def __init__(self, model: PreTrainedModel):
        super().__init__()
        self.model = model
        self.head_is_new = False

    # What a family says of itself.

    @property
    def embeddings(self) -> nn.Module:
        """The embedding layer, called with ``input_ids=`` or ``inputs_embeds=``."""
        return self.model.base_model.embeddings

    @property
    def head(self) -> tuple[nn.Linear, nn.Module, nn.LayerNorm]:
        """The LM head's dense layer, activation and LayerNorm."""
        raise NotImplementedError

    def positions(self, length: int) -> Tensor | None:
        """Raw learned position embeddings [length, H], or None where the family has none (rotary positions)."""
        return self.embeddings.position_embeddings.weight[:length]

    @property
    def after_attention(self) -> nn.Module | None:
        """The module of the last layer, called with attended and residual stream, from which on positions are computed apart; None: no such."""
        return None

    @property
    def decoder_sizes(self) -> dict[str, Any]:
        """Sizes of one BERT-like layer that fits this encoder."""
        config = self.model.config
        return {
            "hidden_size": config.hidden_size,
            "num_attention_heads": config.num_attention_heads,
            "intermediate_size": config.intermediate_size,
            "hidden_act": config.hidden_act,
            "layer_norm_eps": config.layer_norm_eps,
            "initializer_range": config.initializer_range,
            "hidden_dropout_prob": config.hidden_dropout_prob,
            "attention_probs_dropout_prob": config.attention_probs_dropout_prob,
        }

    # What all families share.

    @property
    def config(self) -> Any:
        """The Hugging Face configuration."""
        return self.model.config

    @property
    def hidden_size(self) -> int:
        """H."""
        return self.word_embeddings.embedding_dim

    @property
    def vocabulary_size(self) -> int:
        """V."""
        return self.word_embeddings.num_embeddings

    @property
    def word_embeddings(self) -> nn.Embedding:
        """[V, H], tied to the LM head's matrix."""
        return self.model.get_input_embeddings()

    @property
    def vocabulary_weight(self) -> Tensor:
        """The LM head's matrix [V, H]."""
        return self.model.get_output_embeddings().weight

    @property
    def vocabulary_bias(self) -> Tensor:
        """The LM head's bias [V]."""
        return self.model.get_output_embeddings().bias

    def hidden(self, input_ids: Tensor | None, attention_mask: Tensor, inputs_embeds: Tensor | None = None) -> Tensor:
        """Last hidden states [B, L, H] of token ids [B, L], or of word embeddings [B, L, H] looked up before; no logits are computed."""
        return self.model.base_model(input_ids=input_ids, inputs_embeds=inputs_embeds, attention_mask=attention_mask).last_hidden_state

    def hidden_at(self, places: Tensor, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Last hidden states [N, H] at flat positions [N] of token ids [B, L]; where the family allows it, the last layer computes no others."""
        module = self.after_attention
        if module is None:
            return self.hidden(input_ids, attention_mask).flatten(0, 1).index_select(0, places)
        hook = module.register_forward_pre_hook(lambda _, streams: tuple(stream.flatten(0, 1).index_select(0, places) for stream in streams))
        try:
            return self.hidden(input_ids, attention_mask)
        finally:
            hook.remove()

    def embed(self, input_ids: Tensor | None = None, inputs_embeds: Tensor | None = None) -> Tensor:
        """The model's own embedding layer [B, L, H]: word, position and type, LayerNorm, dropout."""
        return self.embeddings(input_ids=input_ids, inputs_embeds=inputs_embeds)

    def transform(self, hidden: Tensor) -> Tensor:
        """The LM head short of the vocabulary: dense, activation, LayerNorm; [..., H] to [..., H]."""
        dense, activation, norm = self.head
        return norm(activation(dense(hidden)))

    def logits(self, hidden: Tensor) -> Tensor:
        """Full logits [..., V]: the slow twin of `retrolex.backbones.fused`, for tests and single positions."""
        return torch.nn.functional.linear(self.transform(hidden), self.vocabulary_weight, self.vocabulary_bias)
