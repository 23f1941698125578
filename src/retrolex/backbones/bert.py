"""BERT."""

from __future__ import annotations

from torch import nn

from retrolex.backbones.base import Backbone


class Bert(Backbone):
    """``BertForMaskedLM``."""

    @property
    def head(self) -> tuple[nn.Linear, nn.Module, nn.LayerNorm]:
        transform = self.model.cls.predictions.transform
        return transform.dense, transform.transform_act_fn, transform.LayerNorm

    @property
    def after_attention(self) -> nn.Module:
        return self.model.base_model.encoder.layer[-1].attention.output
