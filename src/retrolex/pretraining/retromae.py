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

from torch import Tensor, nn

from retrolex.backbones import Backbone
from retrolex.backbones.representations import pool
from retrolex.pretraining.decoders import DecoderLayer, Places, with_sentence
from retrolex.pretraining.losses import labelled, vocabulary_loss, whole


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
        hidden, sentence = self.encode(batch)
        encoder = self.predict(hidden, batch, "encoder_labels")
        decoder = self.predict(self.decode(sentence, batch), batch, "decoder_labels")
        return {"loss": encoder + decoder, "encoder": encoder, "decoder": decoder, "sentence": sentence}

    def encode(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Hidden states [B, L, H] of the masked text, and h [B, H]."""
        hidden = self.backbone.hidden(batch["encoder_input_ids"], batch["attention_mask"])
        return hidden, pool(hidden, batch["attention_mask"], self.pooling)

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

    def predict(self, hidden: Tensor, batch: dict[str, Tensor], labels: str) -> Tensor:
        """Mean cross-entropy at the labelled positions, by the backbone's LM head; `labels` is the batch's field."""
        rows, wanted = labelled(hidden, batch[labels])
        backbone, step = self.backbone, whole(batch, labels)
        return vocabulary_loss(backbone.transform(rows), wanted, backbone.vocabulary_weight, backbone.vocabulary_bias, step)
