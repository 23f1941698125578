"""Shallow decoders: one transformer layer, whose queries and context may be two different streams."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from transformers.activations import ACT2FN

from retrolex.backbones import Backbone
from retrolex.pretraining.fast import attend


class DecoderLayer(nn.Module):
    """A BERT layer (post-norm) that attends from a query stream to a context stream (RetroMAE, equations 4 and 5).

    With the same tensor as query and context it is an ordinary BERT layer.

    Args:
        sizes: `Backbone.decoder_sizes`.
    """

    def __init__(self, sizes: dict[str, Any]):
        super().__init__()
        width, inner, epsilon = sizes["hidden_size"], sizes["intermediate_size"], sizes["layer_norm_eps"]
        self.heads = sizes["num_attention_heads"]
        self.attention_dropout = sizes["attention_probs_dropout_prob"]
        self.dropout = nn.Dropout(sizes["hidden_dropout_prob"])
        self.activation = ACT2FN[sizes["hidden_act"]]
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.attention_norm = nn.LayerNorm(width, eps=epsilon)
        self.expand, self.contract = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm = nn.LayerNorm(width, eps=epsilon)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=sizes["initializer_range"])
                nn.init.zeros_(module.bias)

    def forward(self, query: Tensor, context: Tensor, visible: Tensor, places: Tensor | None = None) -> Tensor:
        """One layer.

        Args:
            query, context: both streams [B, L, H].
            visible: bool, [B, 1, L] or [B, L, L] (row looks at column).
            places: the flat positions [N] that are wanted, for the last layer of a stack: all that comes after the attention, three
                quarters of a layer's products, is left out at the others.

        Returns:
            [B, L, H], or [N, H] where `places` are given.
        """
        batch, length, width = query.shape
        split = (batch, -1, self.heads, width // self.heads)
        queries = self.query(query).view(split).transpose(1, 2)
        keys = self.key(context).view(split).transpose(1, 2)
        values = self.value(context).view(split).transpose(1, 2)
        dropout = self.attention_dropout if self.training else 0.0
        attended = attend(queries, keys, values, visible[:, None], dropout)
        attended = attended.transpose(1, 2).reshape(batch, length, width)
        if places is not None:
            attended, query = (stream.flatten(0, 1).index_select(0, places) for stream in (attended, query))
        hidden = self.attention_norm(self.dropout(self.output(attended)) + query)
        return self.norm(self.dropout(self.contract(self.activation(self.expand(hidden)))) + hidden)


class Places(nn.Module):
    """The positions a decoder adds: the backbone's own, or learned ones where the backbone has none (rotary positions)."""

    def __init__(self, backbone: Backbone, max_length: int):
        super().__init__()
        self.own = None
        if backbone.positions(1) is None:
            self.own = nn.Parameter(torch.empty(max_length, backbone.hidden_size))
            nn.init.normal_(self.own, std=backbone.decoder_sizes["initializer_range"])

    def raw(self, backbone: Backbone, length: int) -> Tensor:
        """Position embeddings [L, H] as they are."""
        return backbone.positions(length) if self.own is None else self.own[:length]

    def embed(self, backbone: Backbone, input_ids: Tensor | None = None, inputs_embeds: Tensor | None = None) -> Tensor:
        """The backbone's embedding layer [B, L, H], positions included."""
        embedded = backbone.embed(input_ids=input_ids, inputs_embeds=inputs_embeds)
        return embedded if self.own is None else embedded + self.own[: embedded.shape[1]]


class Head(nn.Module):
    """Another LM head over the same vocabulary matrix: its own transform and bias, starting as a copy of the backbone's."""

    def __init__(self, backbone: Backbone):
        super().__init__()
        dense, self.activation, norm = backbone.head
        self.dense, self.norm = copy.deepcopy(dense), copy.deepcopy(norm)
        self.vocabulary_bias = nn.Parameter(backbone.vocabulary_bias.detach().clone())

    def transform(self, hidden: Tensor) -> Tensor:
        """[..., H] to [..., H]."""
        return self.norm(self.activation(self.dense(hidden)))


def with_sentence(sentence: Tensor, embedded: Tensor) -> Tensor:
    """The decoder's input [B, L, H]: a sentence vector [B, H] in the place of the first token's embedding."""
    return torch.cat([sentence[:, None].to(embedded.dtype), embedded[:, 1:]], dim=1)
