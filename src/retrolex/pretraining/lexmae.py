"""LexMAE: a text is squeezed through a distribution over the vocabulary (Shen et al. 2023, arXiv:2208.14754).

    X_enc: X masked at 30%;  S = LM logits of Enc(X_enc);  L_enc = CE of the masked tokens        (section 3.1)
    s = max over text positions of S;  a = softmax(s);  b = a . sg(W)                             (section 3.2)
    X_dec: X masked at 50%, by default containing the encoder's mask
    H = [b, e_1 + p_1, ...] of X_dec;  L_dec = CE of all masked tokens of X_dec, by weak decoder layers
    L = L_enc + L_dec

sg stops the gradient: the word embeddings W cannot help the bottleneck, so the encoder's logits must.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from retrolex.backbones import Backbone
from retrolex.backbones.fused import max_logits
from retrolex.pretraining.decoders import DecoderLayer, Head, Places, with_sentence
from retrolex.pretraining.losses import labelled, labelled_places, vocabulary_loss, whole
from retrolex.tokens.masks import DecoderMask


class LexMAE(nn.Module):
    """Encoder, lexicon bottleneck, weak decoder.

    Args:
        backbone: the encoder.
        bottleneck: ``softmax`` (the paper); ``saturated``: a = log(1 + relu(s)) / (sum + 1e-4); ``cls``: b is the first hidden
            state; ``none``: the decoder gets no bottleneck at all. The last two are the paper's ablations.
        stop_gradient: whether W is held fixed in b = a . W.
        decoder_mask: whether the decoder's mask contains the encoder's (``inclusive``, the paper), ignores it (``random``)
            or avoids it (``exclusive``).
        heads: the decoder's LM head: its ``separate`` own (the paper), the encoder's (``shared``), or its own while the bottleneck has a ``third``.
            All share the vocabulary matrix.
        decoder_layers: 2 in the paper.
        max_length: longest input, for backbones without learned positions.
    """

    def __init__(
        self,
        backbone: Backbone,
        *,
        bottleneck: Literal["softmax", "saturated", "cls", "none"] = "softmax",
        stop_gradient: bool = True,
        decoder_mask: DecoderMask = "inclusive",
        heads: Literal["separate", "shared", "third"] = "separate",
        decoder_layers: int = 2,
        max_length: int = 512,
    ):
        super().__init__()
        self.backbone, self.bottleneck, self.stop_gradient = backbone, bottleneck, stop_gradient
        self.places = Places(backbone, max_length)
        self.decoder = nn.ModuleList(DecoderLayer(backbone.decoder_sizes) for _ in range(decoder_layers))
        self.decoder_head = None if heads == "shared" else Head(backbone)
        self.bottleneck_head = Head(backbone) if heads == "third" and bottleneck in ("softmax", "saturated") else None
        self.decoder_view: str = decoder_mask

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Losses of a batch: ``loss``, ``encoder``, ``decoder``; and ``sentence``, the bottleneck b [B, H] (absent without one)."""
        hidden = self.backbone.hidden(batch["encoder_input_ids"], batch["attention_mask"])
        transformed = self.backbone.transform(hidden)
        weight = self.backbone.vocabulary_weight
        rows, labels = labelled(transformed, batch["encoder_labels"])
        encoder = vocabulary_loss(rows, labels, weight, self.backbone.vocabulary_bias, whole(batch, "encoder_labels"))

        squeezed = self.squeeze(hidden, transformed, batch["text_mask"])
        stream = self.places.embed(self.backbone, batch["decoder_input_ids"])
        stream = stream if squeezed is None else with_sentence(squeezed, stream)
        attended = batch["attention_mask"].bool()[:, None]
        for layer in self.decoder[:-1]:
            stream = layer(stream, stream, attended)
        places, labels = labelled_places(batch["decoder_labels"])
        rows = self.decoder[-1](stream, stream, attended, places)
        head = self.decoder_head or self.backbone
        decoder = vocabulary_loss(head.transform(rows), labels, weight, head.vocabulary_bias, whole(batch, "decoder_labels"))
        losses = {"loss": encoder + decoder, "encoder": encoder, "decoder": decoder}
        return losses if squeezed is None else {**losses, "sentence": squeezed}

    def squeeze(self, hidden: Tensor, transformed: Tensor, text_mask: Tensor) -> Tensor | None:
        """The bottleneck b [B, H] of hidden states [B, L, H], before and after the LM head's transform."""
        if self.bottleneck == "none":
            return None
        if self.bottleneck == "cls":
            return hidden[:, 0]
        head = self.bottleneck_head or self.backbone
        transformed = transformed if self.bottleneck_head is None else head.transform(hidden)
        scores = max_logits(transformed, text_mask, self.backbone.vocabulary_weight, head.vocabulary_bias)
        if self.bottleneck == "softmax":
            weights = torch.softmax(scores, dim=1)
        else:
            weights = torch.log1p(torch.relu(scores))
            weights = weights / (weights.sum(1, keepdim=True) + 1e-4)
        words = self.backbone.word_embeddings.weight
        return weights @ (words.detach() if self.stop_gradient else words)
