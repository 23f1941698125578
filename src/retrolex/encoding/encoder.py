"""Text to vectors: length-sorted batches under a token budget, one forward pass, no logits of [batch, length, vocabulary]."""

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
from retrolex.backbones.representations import lexicon, pool, text_mask
from retrolex.errors import UserError
from retrolex.tokens.framing import Framing

Kind = Literal["document", "query"]
REPRESENTATIONS = ("dense", "lexicon")
BUDGETS = {"cpu": 4096, "cuda": 32768}  # tokens a batch; on a CPU more are no faster, and cost memory
PADDING = {"cpu": 128, "cuda": 2048}  # padding a batch: as many tokens as the start of another batch costs (measured on a CPU, assumed for a GPU)
WIDE = 64  # texts whose vocabulary-wide rows are held at a time: 8 MB at V = 30,522


class Encoder:
    """A model folder, ready to turn texts into vectors.

    Args:
        start: a folder that `retrolex` or sentence-transformers wrote, or any start that `load_backbone` accepts.
        representation: ``dense`` or ``lexicon``; what the folder says by default.
        spec: how vectors are made, in place of what the folder says.
        top_k: keep the K largest weights of a lexicon *document* (LexMAE, appendix D); None keeps all.
        token_budget: tokens a batch, padding included; what suits the device by default.

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
        """Consecutive runs of `order` (longest first), each within the token budget once padded; a new one begins where padding would cost more."""
        batches: list[list[int]] = []
        longest = padding = 0
        for i in order.tolist():
            missing = longest - len(tokens[i])
            if batches and (len(batches[-1]) + 1) * longest <= self.token_budget and padding + missing <= PADDING[self.device.type]:
                batches[-1].append(i)
                padding += missing
            else:
                batches.append([i])
                longest, padding = len(tokens[i]), 0
        return batches

    @torch.inference_mode()
    def forward(self, rows: Sequence[Sequence[int]], kind: Kind) -> np.ndarray | sp.csr_array:
        """Vectors of one batch of token rows, the longest first."""
        ids = torch.full((len(rows), len(rows[0])), self.tokenizer.pad_token_id, dtype=torch.long)
        attention = torch.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
            attention[i, : len(row)] = 1
        ids, attention = ids.to(self.device), attention.to(self.device)
        hidden = self.backbone.hidden(ids, attention)
        if self.representation == "dense":
            vectors = pool(hidden, attention, self.spec.pooling)
            if self.spec.normalize:
                vectors = torch.nn.functional.normalize(vectors, dim=-1)
            return vectors.float().cpu().numpy()
        parts = zip(*(tensor.split(WIDE) for tensor in (hidden, ids, attention)), strict=True)
        return sp.vstack([self.weigh(*part, kind) for part in parts], format="csr")

    def weigh(self, hidden: torch.Tensor, ids: torch.Tensor, attention: torch.Tensor, kind: Kind) -> sp.csr_array:
        """Sparse vectors of a few texts, of hidden states [B, L, H]."""
        weights = lexicon(self.backbone, hidden, text_mask(ids, attention, self.special_ids)).float()
        return sparse(weights, self.top_k if kind == "document" else None)


def sparse(weights: torch.Tensor, top_k: int | None = None) -> sp.csr_array:
    """The positive weights of [B, V] as CSR; of each row the `top_k` largest, equal weights in term order."""
    if top_k is not None and top_k < weights.shape[1]:
        least = weights.topk(top_k, dim=1).values[:, -1:]
        above, level = weights > least, weights == least
        room = top_k - above.sum(1, keepdim=True)
        weights = torch.where(above | (level & (level.cumsum(1) <= room)), weights, 0.0)
    return sp.csr_array(weights.cpu().numpy())
