"""DupMAE, also RetroMAE-2: the ordinary tokens' vectors are trained too (Liu et al. 2023, arXiv:2305.02564).

    L = L_enc + L_dec + w L_bow                        L_enc, L_dec as in RetroMAE with enhanced decoding
    mu = max over ordinary positions i of W_O h_i      W_O: the LM head
    L_bow = - sum over x in set(X) of log softmax(mu)[x]

The paper sums over the set of tokens; here it is their mean, so that a long text weighs as much as a short one.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from retrolex.backbones import Backbone
from retrolex.backbones.fused import max_logits
from retrolex.pretraining.losses import labelled, share_of_mean, whole
from retrolex.pretraining.retromae import RetroMAE
from retrolex.tokens.masks import IGNORED


class DupMAE(RetroMAE):
    """RetroMAE with a bag-of-words loss on the pooled logits.

    Args:
        backbone: the encoder.
        bow_form: ``paper`` pools over ordinary, unmasked positions and weighs the text's distinct tokens equally;
            ``published`` is the published code: it pools over all positions but the first, and each distinct ordinary token weighs
            1 / (number of ordinary tokens), so that a text with repeated words weighs less.
        bow_weight: w; 1 in the paper, 0.1 in the published code.
        options: of `RetroMAE`.
    """

    def __init__(self, backbone: Backbone, *, bow_form: Literal["paper", "published"] = "paper", bow_weight: float = 1.0, **options: Any):
        super().__init__(backbone, **options)
        self.bow_form, self.bow_weight = bow_form, bow_weight

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Losses as RetroMAE's, with ``bow``; and ``terms``, the pooled logits mu [B, V]."""
        hidden, sentence = self.encode(batch)
        transformed = self.backbone.transform(hidden)
        encoder = self.predict(*labelled(hidden, batch["encoder_labels"]), batch, "encoder_labels")
        decoder = self.predict(*labelled(self.decode(sentence, batch), batch["decoder_labels"]), batch, "decoder_labels")
        terms = max_logits(transformed, self.pooled_positions(batch), self.backbone.vocabulary_weight, self.backbone.vocabulary_bias)
        bow = self.bag_of_words(terms, batch)
        loss = encoder + decoder + self.bow_weight * bow
        return {"loss": loss, "encoder": encoder, "decoder": decoder, "bow": bow, "sentence": sentence, "terms": terms}

    def pooled_positions(self, batch: dict[str, Tensor]) -> Tensor:
        """Positions [B, L] that the maximum runs over."""
        if self.bow_form == "paper":
            return batch["text_mask"] & (batch["encoder_labels"] == IGNORED)
        mask = batch["attention_mask"].bool().clone()
        mask[:, 0] = False
        return mask

    def bag_of_words(self, terms: Tensor, batch: dict[str, Tensor]) -> Tensor:
        """L_bow from mu [B, V]: the batch's mean of the weighted cross-entropy with each text's set of tokens."""
        text = batch["text_mask"]
        ids = torch.where(text, batch["input_ids"], -1).sort(dim=1).values
        distinct = (ids >= 0) & (ids != torch.nn.functional.pad(ids[:, :-1], (1, 0), value=-1))
        total = distinct.sum(1) if self.bow_form == "paper" else text.sum(1)
        surprise = torch.logsumexp(terms, dim=1, keepdim=True) - terms.gather(1, ids.clamp(min=0))
        losses = (surprise * distinct).sum(1) / total.clamp(min=1)
        share = share_of_mean(len(losses), losses.device, whole(batch, "texts"))
        return losses.mean() if share is None else losses.mean() * share
