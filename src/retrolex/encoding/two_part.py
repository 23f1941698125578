"""Text to DupMAE's two-part vectors: a short dense part and lexicon terms, side by side in one sparse row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import scipy.sparse as sp
import torch

from retrolex.backbones import resolve_start
from retrolex.backbones.two_part import TERMS, joined, read_projection
from retrolex.encoding.encoder import Encoder, Kind
from retrolex.encoding.packed import Packed

TWO_PART = "dupmae"  # the representation's name


class TwoPartEncoder(Encoder):
    """As `Encoder`, for the representation ``dupmae``; the inner product of a query's and a document's row is their score.

    Args:
        start: a model folder with the projection of the dense part.
        options: of `Encoder`.
    """

    representations = (TWO_PART,)

    def __init__(self, start: str | Path, **options: Any):
        super().__init__(start, TWO_PART, **options)
        weight = self.backbone.vocabulary_weight
        self.projection = read_projection(Path(resolve_start(str(start)))).to(weight.device, weight.dtype)

    @property
    def width(self) -> int:
        """Components of a vector: those of the dense part, and V."""
        return self.projection.out_features + self.backbone.vocabulary_size

    def weigh(self, hidden: torch.Tensor, packed: Packed, kind: Kind) -> sp.csr_array:
        """Vectors of a few texts, of hidden states [N, H]."""
        sentence = self.projection(packed.pool(hidden, self.spec.pooling).to(self.projection.weight.dtype))
        terms = (self.top_k or TERMS) if kind == "document" else None
        return sp.csr_array(joined(sentence, self.terms(hidden, packed), terms).cpu().numpy())


def open_encoder(start: str | Path, representation: str, **options: Any) -> Encoder:
    """The encoder of a representation."""
    return TwoPartEncoder(start, **options) if representation == TWO_PART else Encoder(start, representation, **options)


__all__ = ["TWO_PART", "Kind", "TwoPartEncoder", "open_encoder"]
