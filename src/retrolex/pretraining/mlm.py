"""Masked language modelling: the control. The same data and budget, no decoder (Devlin et al. 2019)."""

from __future__ import annotations

from torch import Tensor, nn

from retrolex.backbones import Backbone
from retrolex.pretraining.losses import labelled_places, vocabulary_loss, whole


class MLM(nn.Module):
    """The encoder alone."""

    decoder_view: str | None = None

    def __init__(self, backbone: Backbone):
        super().__init__()
        self.backbone = backbone

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Losses of a batch: ``loss`` and, the same, ``encoder``."""
        backbone = self.backbone
        places, labels = labelled_places(batch["encoder_labels"])
        rows = backbone.hidden_at(places, batch["encoder_input_ids"], batch["attention_mask"])
        step = whole(batch, "encoder_labels")
        loss = vocabulary_loss(backbone.transform(rows), labels, backbone.vocabulary_weight, backbone.vocabulary_bias, step)
        return {"loss": loss, "encoder": loss}
