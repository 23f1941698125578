"""RetroMAE: a sentence vector good enough to rebuild the sentence (Xiao et al. 2022, arXiv:2205.12035).

X: tokens;  X_enc: X masked at 15-30%;  h = Enc(X_enc), pooled to one vector
L_enc = CE of the masked tokens of X_enc                                                     (as in BERT)

basic decoding, X_dec: X masked at 50-70%
    H = [h, e_1 + p_1, ..., e_N + p_N] of X_dec                                              (equation 2)
    L_dec = CE of the masked tokens of X_dec, after one transformer layer over H             (equation 3)

enhanced decoding
    H1 = [h + p_0, ..., h + p_N]                   queries                                   (equation 4)
    H2 = [h, e_1 + p_1, ..., e_N + p_N]            keys and values, of the unmasked X
    A = softmax(Q K^T / sqrt(d) + M) V             M_ij = 0 where row i may see column j     (equations 5, 7)
    L_dec = CE of every token of X, from A and H1                                            (equation 6)

L = L_enc + L_dec
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from retrolex.backbones import Backbone
from retrolex.backbones.representations import pool
from retrolex.pretraining.decoders import DecoderLayer, Places, with_sentence
from retrolex.pretraining.losses import labelled, labelled_places, vocabulary_loss, whole


class RetroMAE(nn.Module):
    """Encoder, and one decoder layer that shares its embeddings and LM head.

    Args:
        backbone: the encoder.
        decoding: ``enhanced`` (batch key ``decoder_visible``) or ``basic`` (``decoder_input_ids``).
        query_stream: H1 as h + p (``raw``, the paper and the first published code), or passed through the embedding layer,
            which adds token type, LayerNorm and dropout (``embedded``, the later published code).
        pooling: how h is pooled: ``cls`` (the paper), or ``mean`` for starts that were trained so.
        max_length: longest input, for backbones without learned positions.
    """

    def __init__(
        self,
        backbone: Backbone,
        *,
        decoding: Literal["enhanced", "basic"] = "enhanced",
        query_stream: Literal["raw", "embedded"] = "raw",
        pooling: Literal["cls", "mean"] = "cls",
        max_length: int = 512,
    ):
        super().__init__()
        self.backbone, self.decoding, self.query_stream, self.pooling = backbone, decoding, query_stream, pooling
        self.places = Places(backbone, max_length)
        self.decoder = DecoderLayer(backbone.decoder_sizes)
        self.decoder_view: str = "visibility" if decoding == "enhanced" else "random"

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Losses of a batch: ``loss``, ``encoder``, ``decoder``; and ``sentence``, the vectors h [B, H]."""
        rows, labels, sentence = self.encode_labelled(batch)
        encoder = self.predict(rows, labels, batch, "encoder_labels")
        decoder = self.predict(*labelled(self.decode(sentence, batch), batch["decoder_labels"]), batch, "decoder_labels")
        return {"loss": encoder + decoder, "encoder": encoder, "decoder": decoder, "sentence": sentence}

    def encode(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Hidden states [B, L, H] of the masked text, and h [B, H]."""
        hidden = self.backbone.hidden(batch["encoder_input_ids"], batch["attention_mask"])
        return hidden, pool(hidden, batch["attention_mask"], self.pooling)

    def encode_labelled(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Hidden states [N, H] at the labelled positions, their labels [N], and h [B, H]."""
        if self.pooling != "cls":
            hidden, sentence = self.encode(batch)
            return *labelled(hidden, batch["encoder_labels"]), sentence
        places, labels = labelled_places(batch["encoder_labels"])
        texts, length = batch["encoder_input_ids"].shape
        first = torch.arange(texts, device=places.device) * length
        hidden = self.backbone.hidden_at(torch.cat([first, places]), batch["encoder_input_ids"], batch["attention_mask"])
        return hidden[texts:], labels, hidden[:texts].float()

    def decode(self, sentence: Tensor, batch: dict[str, Tensor]) -> Tensor:
        """The decoder's output [B, L, H]."""
        if self.decoding == "basic":
            stream = with_sentence(sentence, self.places.embed(self.backbone, batch["decoder_input_ids"]))
            return self.decoder(stream, stream, batch["attention_mask"].bool()[:, None])
        context = with_sentence(sentence, self.places.embed(self.backbone, batch["input_ids"]))
        length = context.shape[1]
        if self.query_stream == "raw":
            query = (sentence[:, None] + self.places.raw(self.backbone, length)).to(context.dtype)
        else:
            query = self.places.embed(self.backbone, inputs_embeds=sentence[:, None].expand(-1, length, -1))
        return self.decoder(query, context, batch["decoder_visible"].bool())

    def predict(self, rows: Tensor, labels: Tensor, batch: dict[str, Tensor], name: str) -> Tensor:
        """Mean cross-entropy of hidden states [N, H] at labels [N] of the batch's field `name`, by the backbone's LM head."""
        backbone = self.backbone
        return vocabulary_loss(backbone.transform(rows), labels, backbone.vocabulary_weight, backbone.vocabulary_bias, whole(batch, name))
