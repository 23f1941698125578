"""RoBERTa and XLM-RoBERTa."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from retrolex.backbones.base import Backbone


class Roberta(Backbone):
    """``RobertaForMaskedLM`` and ``XLMRobertaForMaskedLM``."""

    @property
    def head(self) -> tuple[nn.Linear, nn.Module, nn.LayerNorm]:
        head = self.model.lm_head
        return head.dense, F.gelu, head.layer_norm

    def positions(self, length: int) -> Tensor:
        # The family numbers positions from the padding id upwards.
        first = self.embeddings.padding_idx + 1
        return self.embeddings.position_embeddings.weight[first : first + length]

    @property
    def after_attention(self) -> nn.Module:
        return self.model.base_model.encoder.layer[-1].attention.output
