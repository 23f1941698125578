"""Texts one after another, without padding, and how a BERT-like encoder reads them on a CPU.

Three things make it faster there than the model's own forward pass over padded texts: nothing is computed for padding, large batches need not be
of one length, and the weights are laid out for the matrix product once and not in every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from retrolex.backbones.base import Backbone
from retrolex.backbones.bert import Bert
from retrolex.backbones.roberta import Roberta


@dataclass(frozen=True)
class Packed:
    """Token ids [N] of texts one after another, and the texts' lengths, which sum to N."""

    ids: Tensor
    lengths: list[int]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], device: torch.device) -> Packed:
        """Pack rows of token ids."""
        return cls(torch.tensor([token for row in rows for token in row], dtype=torch.long, device=device), [len(row) for row in rows])

    def padded(self, values: Tensor, padding: float = 0) -> Tensor:
        """Values [N, ...], one a token, as [B, L, ...]."""
        return nn.utils.rnn.pad_sequence(values.split(self.lengths), batch_first=True, padding_value=padding)

    def attention(self) -> Tensor:
        """Attention mask [B, L] that goes with `padded`."""
        return self.padded(torch.ones_like(self.ids))

    def groups(self, texts: int) -> list[tuple[Packed, slice]]:
        """At most so many texts at a time, and where their tokens lie."""
        parts, begin = [], 0
        for first in range(0, len(self.lengths), texts):
            lengths = self.lengths[first : first + texts]
            inside = slice(begin, begin + sum(lengths))
            parts.append((Packed(self.ids[inside], lengths), inside))
            begin = inside.stop
        return parts

    def pool(self, hidden: Tensor, pooling: str) -> Tensor:
        """One vector a text, of hidden states [N, H]: [B, H] in float32, zero for a text without tokens.

        The twin of `retrolex.backbones.representations.pool`.
        """
        lengths = torch.tensor(self.lengths, device=hidden.device)
        vectors = torch.zeros(len(lengths), hidden.shape[1], device=hidden.device)
        if pooling == "cls":
            filled = lengths > 0
            vectors[filled] = hidden[(lengths.cumsum(0) - lengths)[filled]].float()
            return vectors
        return vectors.index_add_(0, torch.repeat_interleave(lengths), hidden.float()) / lengths.clamp(min=1)[:, None]


def runs(lengths: Sequence[int]) -> list[tuple[int, int, int]]:
    """Neighbouring texts of one length: (first row, texts, length) of each run; texts without rows are left out."""
    counted = [(length, len(list(same))) for length, same in groupby(lengths)]
    begins = accumulate((length * texts for length, texts in counted), initial=0)
    return [(begin, texts, length) for begin, (length, texts) in zip(begins, counted, strict=False) if length]


class Product:
    """rows [N, I] -> rows weight^T + bias [N, O], the weight laid out once as oneDNN reads it, where torch has oneDNN.

    These are the operators that ``torch.compile`` calls for a frozen linear layer.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None):
        self.weight, self.bias = weight.detach(), None if bias is None else bias.detach()
        self.packed = hasattr(torch.ops.mkldnn, "_linear_pointwise") and torch.backends.mkldnn.is_available()
        if self.packed:
            self.weight = torch.ops.mkldnn._reorder_linear_weight(self.weight.contiguous())

    def __call__(self, rows: Tensor) -> Tensor:
        if self.packed:
            return torch.ops.mkldnn._linear_pointwise(rows, self.weight, self.bias, "none", [], "")
        return F.linear(rows, self.weight, self.bias)


class PackedLayers:
    """A BERT-like encoder over packed texts; its weights are those that the backbone has now.

    Args:
        backbone: one that `suits`.
    """

    def __init__(self, backbone: Backbone):
        self.backbone, self.heads = backbone, backbone.config.num_attention_heads
        self.layers = [Layer(layer) for layer in backbone.model.base_model.encoder.layer]

    @staticmethod
    def suits(backbone: Backbone) -> bool:
        """Whether this is a backbone, on a device, that can be read and is read faster so; relative positions, which older models have, cannot."""
        absolute = getattr(backbone.config, "position_embedding_type", None) in (None, "absolute")
        return absolute and isinstance(backbone, (Bert, Roberta)) and backbone.vocabulary_weight.device.type == "cpu"

    def __call__(self, packed: Packed) -> Tensor:
        """Last hidden states [N, H]: the twin of `Backbone.hidden`."""
        places = runs(packed.lengths)
        parts = [packed.ids[begin : begin + texts * length].view(texts, length) for begin, texts, length in places]
        hidden = torch.cat([self.backbone.embed(part).flatten(0, 1) for part in parts])
        for layer in self.layers:
            hidden = layer(hidden, places, self.heads)
        return hidden


class Layer:
    """One post-norm transformer layer."""

    def __init__(self, layer: nn.Module):
        attention, own = layer.attention, layer.attention.self
        projections = own.query, own.key, own.value
        self.inward = Product(torch.cat([part.weight for part in projections]), torch.cat([part.bias for part in projections]))
        self.outward = Product(attention.output.dense.weight, attention.output.dense.bias)
        self.wide = Product(layer.intermediate.dense.weight, layer.intermediate.dense.bias)
        self.narrow = Product(layer.output.dense.weight, layer.output.dense.bias)
        self.norms, self.activation = (attention.output.LayerNorm, layer.output.LayerNorm), layer.intermediate.intermediate_act_fn

    def __call__(self, hidden: Tensor, places: list[tuple[int, int, int]], heads: int) -> Tensor:
        """Hidden states [N, H] to those of the next layer; `places`: see `runs`."""
        hidden = self.norms[0](self.outward(attend(self.inward(hidden), places, heads)).add_(hidden))
        return self.norms[1](self.narrow(self.activation(self.wide(hidden))).add_(hidden))


def attend(projected: Tensor, places: list[tuple[int, int, int]], heads: int) -> Tensor:
    """Attention within each text: queries, keys and values side by side [N, 3 H] to contexts [N, H].

    Texts of one length are one call without a mask.
    """
    width = projected.shape[1] // 3
    contexts = projected.new_empty(len(projected), width)
    for begin, texts, length in places:
        rows = slice(begin, begin + texts * length)
        query, key, value = projected[rows].view(texts, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        context = F.scaled_dot_product_attention(query, key, value).transpose(1, 2)
        contexts[rows].view(texts, length, heads, width // heads).copy_(context)
    return contexts
