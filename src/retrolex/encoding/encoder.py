"""Text to vectors: length-sorted batches under a token budget, one forward pass, no logits of [batch, length, vocabulary].

On a CPU the texts of a batch lie one after another without padding (`retrolex.encoding.packed`), on a GPU they are padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch

from retrolex.backbones import Spec, load_backbone, read_spec, resolve_start
from retrolex.backbones.precision import bf16_pays, device
from retrolex.backbones.representations import lexicon
from retrolex.encoding.packed import Packed, PackedLayers
from retrolex.encoding.vocabulary import Vocabulary
from retrolex.errors import UserError
from retrolex.tokens.framing import Framing

Kind = Literal["document", "query"]
REPRESENTATIONS = ("dense", "lexicon")
BUDGETS = {"cpu": 4096, "cuda": 32768}  # tokens a batch; on a CPU more are no faster, and cost memory
PADDING = {"cpu": 128, "cuda": 2048}  # where texts are padded, padding a batch: as many tokens as the start of another costs (assumed for a GPU)
WIDE = 64  # texts whose vocabulary-wide rows are held at a time: 8 MB at V = 30,522


class Encoder:
    """A model folder, ready to turn texts into vectors.

    Args:
        start: a folder that `retrolex` or sentence-transformers wrote, or any start that `load_backbone` accepts.
        representation: ``dense`` or ``lexicon``; what the folder says by default.
        spec: how vectors are made, in place of what the folder says.
        top_k: keep the K largest weights of a lexicon *document* (LexMAE, appendix D); None keeps all.
        token_budget: tokens a batch, with padding where there is any; what suits the device by default.

    Raises:
        UserError: the model makes another kind of vectors.
    """

    representations = REPRESENTATIONS

    def __init__(
        self,
        start: str | Path,
        representation: str | None = None,
        *,
        spec: Spec | None = None,
        top_k: int | None = None,
        token_budget: int | None = None,
    ):
        self.spec = spec or read_spec(Path(resolve_start(str(start))))
        self.representation = representation or self.spec.representation
        if self.representation not in self.representations:
            what = f"{type(self).__name__} makes {' or '.join(self.representations)} vectors, this model {self.representation} ones"
            raise UserError(what, where=start, mend="open it with encoding.two_part.open_encoder, which knows every representation")
        self.backbone, self.tokenizer = load_backbone(start)
        self.device = device()
        self.top_k, self.token_budget = top_k, token_budget or BUDGETS[self.device.type]
        self.backbone.to(self.device, torch.bfloat16 if bf16_pays() else torch.float32)
        self.layers = PackedLayers(self.backbone) if PackedLayers.suits(self.backbone) else None
        self.vocabulary = Vocabulary(self.backbone) if self.representation != "dense" and self.device.type == "cpu" else None
        self.special_ids = torch.tensor(sorted(set(self.tokenizer.all_special_ids) - {self.tokenizer.mask_token_id}), device=self.device)

    @property
    def width(self) -> int:
        """Components of a vector: H for dense, V for lexicon."""
        return self.backbone.hidden_size if self.representation == "dense" else self.backbone.vocabulary_size

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> np.ndarray | sp.csr_array:
        """Vectors of `texts`, in their order.

        Returns:
            dense: float32 [n, H]; lexicon: float32 CSR [n, V] with sorted terms.
        """
        return self.encode_tokens(self.tokens(texts, kind) if texts else [], kind)

    def encode_tokens(self, tokens: Sequence[Sequence[int]], kind: Kind = "document") -> np.ndarray | sp.csr_array:
        """`encode` for texts that are token ids already, special tokens included (`tokens`, `framing`)."""
        if not tokens:
            return np.zeros((0, self.width), np.float32) if self.representation == "dense" else sp.csr_array((0, self.width), dtype=np.float32)
        order = np.argsort([-len(row) for row in tokens], kind="stable")
        parts = [self.forward([tokens[i] for i in batch], kind) for batch in self.batches(order, tokens)]
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return np.concatenate(parts)[back] if self.representation == "dense" else sp.vstack(parts, format="csr")[back]

    def tokens(self, texts: Sequence[str], kind: Kind) -> list[list[int]]:
        """Token ids with specials, prefix applied, cut to the model's length for this kind of text."""
        prefix, length = (
            (self.spec.query_prefix, self.spec.query_length) if kind == "query" else (self.spec.document_prefix, self.spec.document_length)
        )
        return self.tokenizer([prefix + text for text in texts], truncation=True, max_length=length)["input_ids"]

    @cached_property
    def framing(self) -> Framing:
        """How documents are read from a token cache."""
        return Framing(self.tokenizer, self.spec.document_prefix, self.spec.document_length)

    def characters(self, text: str, start: int, stop: int) -> tuple[int, int]:
        """Where the tokens from `start` up to, not including, `stop` of a document's text lie in it."""
        if start == stop:
            return 0, 0
        offsets = self.tokenizer(text, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False)["offset_mapping"]
        return offsets[start][0], offsets[stop - 1][1]

    def batches(self, order: np.ndarray, tokens: Sequence[Sequence[int]]) -> list[list[int]]:
        """Consecutive runs of `order` (longest first), each within the token budget; padded ones end where more padding costs more than a new one."""
        batches: list[list[int]] = []
        padded, longest, held, padding = self.layers is None, 0, 0, 0
        for i in order.tolist():
            length = len(tokens[i])
            taken = longest if padded else length
            if not batches or held + taken > self.token_budget or (padded and padding + longest - length > PADDING[self.device.type]):
                batches.append([])
                longest, taken, held, padding = length, length, 0, 0
            batches[-1].append(i)
            held += taken
            padding += longest - length
        return batches

    @torch.inference_mode()
    def forward(self, rows: Sequence[Sequence[int]], kind: Kind) -> np.ndarray | sp.csr_array:
        """Vectors of one batch of token rows, the longest first."""
        packed = Packed.of(rows, self.device)
        hidden = self.hidden(packed)
        if self.representation == "dense":
            vectors = packed.pool(hidden, self.spec.pooling)
            if self.spec.normalize:
                vectors = torch.nn.functional.normalize(vectors, dim=-1)
            return vectors.cpu().numpy()
        return sp.vstack([self.weigh(hidden[inside], part, kind) for part, inside in packed.groups(WIDE)], format="csr")

    def hidden(self, packed: Packed) -> torch.Tensor:
        """Last hidden states [N, H]."""
        if not len(packed.ids):  # texts without words, by a tokenizer without special tokens
            return self.backbone.vocabulary_weight.new_zeros(0, self.backbone.hidden_size)
        if self.layers is not None:
            return self.layers(packed)
        attention = packed.attention()
        return self.backbone.hidden(packed.padded(packed.ids, self.tokenizer.pad_token_id), attention)[attention.bool()]

    def weigh(self, hidden: torch.Tensor, packed: Packed, kind: Kind) -> sp.csr_array:
        """Sparse vectors of a few texts, of hidden states [N, H]."""
        return sparse(self.terms(hidden, packed), self.top_k if kind == "document" else None)

    def terms(self, hidden: torch.Tensor, packed: Packed) -> torch.Tensor:
        """Lexicon weights [B, V] in float32."""
        mask = (packed.ids.unsqueeze(-1) != self.special_ids).all(-1)  # special tokens are no text; [MASK] is
        if self.vocabulary is not None:
            return self.vocabulary.weights(hidden, mask, packed.lengths)
        return lexicon(self.backbone, packed.padded(hidden), packed.padded(mask)).float()


def sparse(weights: torch.Tensor, top_k: int | None = None) -> sp.csr_array:
    """The positive weights of [B, V] as CSR; of each row the `top_k` largest, equal weights in term order."""
    if top_k is not None and top_k < weights.shape[1]:
        least = weights.topk(top_k, dim=1).values[:, -1:]
        above, level = weights > least, weights == least
        room = top_k - above.sum(1, keepdim=True)
        weights = torch.where(above | (level & (level.cumsum(1) <= room)), weights, 0.0)
    return sp.csr_array(weights.cpu().numpy())
