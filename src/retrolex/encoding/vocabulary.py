"""The LM head over packed texts on a CPU: lexicon weights of many texts, a thousand words of the vocabulary at a time.

Where bfloat16 is computed and the processor multiplies 8-bit integers faster still, the head does that. Each text's hidden states and each word's
vector have a scale of their own, and both can wait until after the maximum. Sums of integers are exact, where bfloat16 rounds every logit to
8 bits: the weights are as near to those of float32 as bfloat16's (`benchmarks/encoding.py`), and do not depend on what else is in the batch.
"""

from __future__ import annotations

import torch
from torch import Tensor

from retrolex.backbones.base import Backbone
from retrolex.encoding.packed import Product, runs

WORDS = 1024  # words whose logits are held at a time: 8 MB for 2,000 tokens in 32-bit integers
LARGEST = 127  # of an 8-bit integer


def int8_pays() -> bool:
    """Whether this processor multiplies 8-bit integers with instructions of their own (AVX-512 VNNI)."""
    check = getattr(torch.cpu, "_is_vnni_supported", None)
    return check is not None and check()


class Vocabulary:
    """The head of a backbone, its matrix laid out once; its weights are those that the backbone has now."""

    def __init__(self, backbone: Backbone):
        self.backbone = backbone
        matrix = backbone.vocabulary_weight.detach()
        self.rounds = matrix.dtype == torch.bfloat16 and int8_pays()
        if self.rounds:
            self.scales = torch.cat([scales(part.float()) for part in matrix.split(WORDS)])
            self.parts = [quantised(part.float(), steps).t() for part, steps in zip(matrix.split(WORDS), self.scales.split(WORDS), strict=True)]
        else:
            self.products = [Product(part, None) for part in matrix.split(WORDS)]

    def weights(self, hidden: Tensor, mask: Tensor, lengths: list[int]) -> Tensor:
        """Lexicon vectors: the twin of `retrolex.backbones.representations.lexicon`.

        Args:
            hidden: last hidden states [N, H] of texts one after another.
            mask: [N] bool, the positions that hold text.
            lengths: of the texts, with what is not text.

        Returns:
            [B, V] in float32; a text without a single text position has the zero vector.
        """
        counts = [int(part.sum()) for part in mask.split(lengths)]
        weights = torch.zeros(len(lengths), self.backbone.vocabulary_size)
        filled = torch.tensor(counts) > 0
        if filled.any():
            peaks = self.peaks(self.backbone.transform(hidden[mask]), counts) + self.backbone.vocabulary_bias
            weights[filled] = torch.log1p(torch.relu(peaks))
        return weights

    def peaks(self, rows: Tensor, counts: list[int]) -> Tensor:
        """Largest product of each text's transformed rows [N, H] with each word [B, V] in float32, bias not added; texts without rows left out."""
        if not self.rounds:
            return torch.cat([maxima(product(rows), counts) for product in self.products], dim=1).float()
        rows, texts = rows.float(), torch.repeat_interleave(torch.tensor([count for count in counts if count]))
        own = scales(maxima(rows.abs(), counts))
        integers = quantised(rows, own[texts])
        found = torch.cat([maxima(torch._int_mm(integers, part), counts) for part in self.parts], dim=1)
        return found * own[:, None] * self.scales


def maxima(rows: Tensor, counts: list[int]) -> Tensor:
    """Largest of each text's rows [N, W]: [B, W], texts without rows left out."""
    return torch.cat([rows[begin : begin + texts * count].view(texts, count, -1).amax(1) for begin, texts, count in runs(counts)])


def scales(rows: Tensor) -> Tensor:
    """What one step of an 8-bit integer is worth in each row: [N, W] to [N]."""
    return rows.abs().amax(1).clamp(min=torch.finfo(rows.dtype).tiny) / LARGEST


def quantised(rows: Tensor, steps: Tensor) -> Tensor:
    """Rows [N, W] in steps [N], as 8-bit integers."""
    return (rows / steps[:, None]).round_().to(torch.int8)
