"""The backbone as a bi-encoder, and what it is trained to do: dense vectors, lexicon weights, or both side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from retrolex.backbones import Backbone, Spec
from retrolex.backbones.representations import lexicon_weights, pool, text_mask
from retrolex.backbones.two_part import TERMS, joined
from retrolex.finetuning import processes
from retrolex.finetuning.gradient_cache import cached_losses
from retrolex.finetuning.losses import distillation, flops, group_scores, info_nce, margin_mse
from retrolex.finetuning.options import FinetuneOptions

NORMALIZED_SCALE = 20.0  # inner products of unit vectors lie in [-1, 1]: without it the softmax stays flat
Kind = Literal["query", "document"]
Part = dict[str, Tensor]
TEACHERS = {"distill": distillation, "margin_mse": margin_mse}


class Retriever(nn.Module):
    """A bi-encoder and its loss.

    Args:
        backbone: trained in place.
        spec: representation, pooling, normalisation.
        special_ids: tokens that are no text; the mask token is not among them.
        options: the loss and its weights.
        projection: of the dense part, for the representation ``dupmae``.
    """

    def __init__(self, backbone: Backbone, spec: Spec, special_ids: Sequence[int], options: FinetuneOptions, projection: nn.Linear | None = None):
        super().__init__()
        self.backbone, self.spec, self.options, self.projection = backbone, spec, options, projection
        self.scale = options.scale or (NORMALIZED_SCALE if spec.normalize and spec.representation == "dense" else 1.0)
        self.register_buffer("special_ids", torch.tensor(sorted(special_ids)), persistent=False)

    def forward(self, batches: Sequence[dict[str, Any]], ramp: Tensor) -> dict[str, Tensor]:
        """The loss of one step's batches (see `Batches`), and its parts; `ramp` is what the FLOPS weights are multiplied by."""
        if self.options.chunk is None or not torch.is_grad_enabled():
            vectors = [(self.encode(batch["queries"]["parts"], "query"), self.encode(batch["documents"]["parts"], "document")) for batch in batches]
            return processes.reported(self.losses(vectors, batches, ramp))
        sides: list[tuple[str, Kind]] = [("queries", "query"), ("documents", "document")]
        pieces = [(part, kind) for batch in batches for side, kind in sides for part in batch[side]["parts"]]
        sizes = [len(batch[side]["parts"]) for batch in batches for side, _ in sides]

        def losses(encoded: list[Tensor]) -> dict[str, Tensor]:
            rest = iter(encoded)
            whole = [torch.cat([next(rest) for _ in range(size)]) for size in sizes]
            return self.losses(list(zip(whole[::2], whole[1::2], strict=True)), batches, ramp)

        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        return processes.reported(cached_losses(lambda piece: self.encode([piece[0]], piece[1]), pieces, losses, trained))

    def encode(self, parts: Sequence[Part], kind: Kind) -> Tensor:
        """Vectors [n, D] in float32 of all texts of some padded parts, one part below the other."""
        hidden = self._hidden(parts)
        if self.spec.representation == "lexicon":
            return self._lexicon(parts, hidden)
        pooled = [pool(states, part["attention_mask"], self.spec.pooling) for states, part in zip(hidden, parts, strict=True)]
        if self.projection is not None:
            weights = self._lexicon(parts, hidden)
            return joined(self.projection(torch.cat(pooled)), weights, TERMS if kind == "document" else None)
        vectors = torch.cat(pooled)
        return normalize(vectors, dim=-1) if self.spec.normalize else vectors

    def _hidden(self, parts: Sequence[Part]) -> list[Tensor]:
        """Hidden states of every part. Words are looked up once for all: each look-up costs a gradient of the whole [V, H] table."""
        words = self.backbone.word_embeddings(torch.cat([part["input_ids"].flatten() for part in parts]))
        pieces = words.split([part["input_ids"].numel() for part in parts])
        return [
            self.backbone.hidden(None, part["attention_mask"], piece.view(*part["input_ids"].shape, -1))
            for part, piece in zip(parts, pieces, strict=True)
        ]

    def _lexicon(self, parts: Sequence[Part], hidden: Sequence[Tensor]) -> Tensor:
        """Lexicon vectors of all parts by one product with the vocabulary, for the same reason; padding takes no part in it."""
        longest = max(states.shape[1] for states in hidden)
        transformed = [pad(self.backbone.transform(states), (0, 0, 0, longest - states.shape[1])) for states in hidden]
        masks = [text_mask(part["input_ids"], part["attention_mask"], self.special_ids) for part in parts]
        masks = [pad(mask, (0, longest - mask.shape[1])) for mask in masks]
        return lexicon_weights(self.backbone, torch.cat(transformed), torch.cat(masks)).float()

    def losses(self, vectors: Sequence[tuple[Tensor, Tensor]], batches: Sequence[dict[str, Any]], ramp: Tensor) -> dict[str, Tensor]:
        """Averages over a step's batches, except for FLOPS, which is that of all their texts together.

        loss = InfoNCE, or teacher's + contrastive * InfoNCE;  + ramp * flops * (FLOPS of documents + query_flops * FLOPS of queries)

        Args:
            vectors: of each batch's distinct queries and documents; ``rows`` says which text has which.
            batches: see `Batches`.
        """
        options = self.options
        with torch.autocast(vectors[0][0].device.type, enabled=False):  # scores of a lexicon reach the hundreds: bfloat16 would blur them
            queries = [query[batch["queries"]["rows"]] for (query, _), batch in zip(vectors, batches, strict=True)]
            documents = [document[batch["documents"]["rows"]] for (_, document), batch in zip(vectors, batches, strict=True)]
            found: dict[str, list[Tensor]] = {"contrastive": []}
            for query, document, batch in zip(queries, documents, batches, strict=True):
                everybody = processes.gather(document)
                found["contrastive"].append(info_nce(query, everybody, scale=self.scale, excluded=batch["excluded"], own=batch["own"]))
                if options.loss in TEACHERS:
                    scores = self.scale * group_scores(query, document)
                    found.setdefault(options.loss, []).append(TEACHERS[options.loss](scores, batch["teacher"]))
            losses = {name: torch.stack(values).mean() for name, values in found.items()}
            loss = losses["contrastive"]
            if options.loss in TEACHERS:
                loss = losses[options.loss] + options.contrastive * loss
            if self.spec.representation == "dense":
                return {"loss": loss, **losses, "document_cosine": alike(torch.cat([document for _, document in vectors]).detach())}
            queries, documents = ([self._terms(part) for part in side] for side in (queries, documents))
            sparsity = {"document_flops": flops(*documents), "query_flops": flops(*queries)}
            loss = loss + ramp * options.flops * (sparsity["document_flops"] + options.query_flops * sparsity["query_flops"])
        terms = {f"{name}_terms": (torch.cat(side) > 0).sum(1).float().mean() for name, side in (("document", documents), ("query", queries))}
        return {"loss": loss, **losses, **sparsity, **terms}

    def _terms(self, vectors: Tensor) -> Tensor:
        """The lexicon part of vectors."""
        return vectors if self.projection is None else vectors[:, self.projection.out_features :]


def alike(vectors: Tensor) -> Tensor:
    """Mean cosine of all pairs of different rows of [n, D]; 1: all are the same; 0 where there is one row."""
    count = len(vectors)
    return (normalize(vectors, dim=-1).sum(0).square().sum() - count) / max(1, count * (count - 1))
