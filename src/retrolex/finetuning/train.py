"""Contrastive fine-tuning of a masked LM into a retriever: dense vectors or lexicon weights, one loop for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, pad
from transformers import PreTrainedTokenizerBase

from retrolex.backbones import Backbone, Spec, save_backbone, write_spec
from retrolex.backbones.representations import lexicon_weights, pool, text_mask
from retrolex.errors import UserError
from retrolex.finetuning.batches import Batches
from retrolex.finetuning.losses import flops, info_nce
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.pairs import Pair
from retrolex.pretraining.fast import make_fast
from retrolex.progress import say
from retrolex.training import Schedule, clear_checkpoints, fit, set_dropout

DENSE_LEXICON = 0.2  # share of the vocabulary in an average document beyond which an inverted index no longer pays
NORMALIZED_SCALE = 20.0  # inner products of unit vectors lie in [-1, 1]: without it the softmax stays flat


@dataclass(frozen=True)
class FinetuneOptions:
    """One contrastive stage.

    Attributes:
        steps: optimizer steps; None: `epochs` passes over the pairs.
        epochs: see `steps`.
        queries, hard: queries a batch, hard negatives a query.
        learning_rate, warmup, weight_decay, clip: see `training.Schedule`.
        accumulate: batches a step; the in-batch negatives do not grow with it.
        scale: what inner products are multiplied by; None: 20 for vectors of length 1 (temperature 0.05), else 1.
        flops: weight of the FLOPS loss of documents, lexicon only; it rises with the square of the step over `ramp` of the run.
        query_flops: weight of the queries' FLOPS loss, as a share of `flops`.
        token_budget: tokens that go through the encoder at once.
        dropout: of the encoder; with one pass over the pairs there is nothing to overfit, and on a CPU dropout is slow.
        seed: of batches and dropout.
        save_every, log_every, bf16: see `training.Schedule`.
    """

    steps: int | None = None
    epochs: float = 1.0
    queries: int = 24
    hard: int = 3
    learning_rate: float = 2e-5
    warmup: float = 0.05
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulate: int = 1
    scale: float | None = None
    flops: float = 0.002
    query_flops: float = 0.75
    ramp: float = 0.33
    token_budget: int = 8192
    dropout: float = 0.0
    seed: int = 42
    save_every: int | None = None
    log_every: int | None = None
    bf16: bool | None = None


class Retriever(nn.Module):
    """The backbone as a bi-encoder, and its loss.

    Args:
        backbone: trained in place.
        spec: representation, pooling, normalisation.
        special_ids: tokens that are no text; the mask token is not among them.
        scale, flops, query_flops: see `FinetuneOptions`.
    """

    def __init__(self, backbone: Backbone, spec: Spec, special_ids: Sequence[int], scale: float, flops: float, query_flops: float):
        super().__init__()
        self.backbone, self.spec = backbone, spec
        self.scale, self.flops, self.query_flops = scale, flops, query_flops
        self.register_buffer("special_ids", torch.tensor(sorted(special_ids)), persistent=False)

    def vectors(self, parts: Sequence[dict[str, Tensor]], rows: Tensor) -> Tensor:
        """Vectors [n, D] in float32 of texts that come as padded parts; see `Batches.encoded`."""
        hidden = self._hidden(parts)
        if self.spec.representation == "lexicon":
            return self._lexicon(parts, hidden)[rows]
        vectors = torch.cat([pool(states, part["attention_mask"], self.spec.pooling) for states, part in zip(hidden, parts, strict=True)])[rows]
        return normalize(vectors, dim=-1) if self.spec.normalize else vectors

    def _hidden(self, parts: Sequence[dict[str, Tensor]]) -> list[Tensor]:
        """Hidden states of every part. Words are looked up once for all: each look-up costs a gradient of the whole [V, H] table."""
        words = self.backbone.word_embeddings(torch.cat([part["input_ids"].flatten() for part in parts]))
        pieces = words.split([part["input_ids"].numel() for part in parts])
        return [
            self.backbone.hidden(None, part["attention_mask"], piece.view(*part["input_ids"].shape, -1))
            for part, piece in zip(parts, pieces, strict=True)
        ]

    def _lexicon(self, parts: Sequence[dict[str, Tensor]], hidden: Sequence[Tensor]) -> Tensor:
        """Lexicon vectors of all parts by one product with the vocabulary, for the same reason; padding takes no part in it."""
        longest = max(states.shape[1] for states in hidden)
        transformed = [pad(self.backbone.transform(states), (0, 0, 0, longest - states.shape[1])) for states in hidden]
        masks = [text_mask(part["input_ids"], part["attention_mask"], self.special_ids) for part in parts]
        masks = [pad(mask, (0, longest - mask.shape[1])) for mask in masks]
        return lexicon_weights(self.backbone, torch.cat(transformed), torch.cat(masks)).float()

    def forward(self, queries: dict[str, Any], documents: dict[str, Any], excluded: Tensor, ramp: Tensor) -> dict[str, Tensor]:
        """InfoNCE, and for a lexicon + ramp * (flops * FLOPS of documents + flops * query_flops * FLOPS of queries)."""
        query, document = self.vectors(**queries), self.vectors(**documents)
        with torch.autocast(query.device.type, enabled=False):  # scores of a lexicon reach the hundreds: bfloat16 would blur them
            contrastive = info_nce(query, document, scale=self.scale, excluded=excluded)
            if self.spec.representation != "lexicon":
                return {"loss": contrastive, "contrastive": contrastive}
            document_flops, query_flops = flops(document), flops(query)
            loss = contrastive + ramp * self.flops * (document_flops + self.query_flops * query_flops)
        terms = {"document_terms": (document > 0).sum(1).float().mean(), "query_terms": (query > 0).sum(1).float().mean()}
        return {"loss": loss, "contrastive": contrastive, "document_flops": document_flops, "query_flops": query_flops, **terms}


def finetune(
    backbone: Backbone,
    tokenizer: PreTrainedTokenizerBase,
    spec: Spec,
    pairs: Sequence[Pair],
    negatives: Sequence[Sequence[Negative]],
    text: Callable[[str], str],
    folder: Path,
    options: FinetuneOptions,
) -> dict[str, float]:
    """Fine-tune `backbone` and write it as a model folder; a killed call continues where its last checkpoint was.

    Args:
        backbone, tokenizer, spec: the start, and how its vectors are made.
        pairs, negatives: what to learn from; one list of negatives a pair.
        text: full text of a document id.
        folder: gets the model, ``retrolex.json`` and ``logs/train.jsonl``.
        options: see there.

    Returns:
        Steps, and the last logged losses.

    Raises:
        UserError: a representation that is neither dense nor lexicon, too few pairs, queries or negatives, a loss that is no number.
    """
    _check(spec, pairs, negatives, options)
    batches = Batches(
        pairs, negatives, text, tokenizer, spec, queries=options.queries, hard=options.hard, token_budget=options.token_budget, seed=options.seed
    )
    steps = options.steps or max(1, round(options.epochs * len(batches) / options.accumulate))
    scale = options.scale or (NORMALIZED_SCALE if spec.normalize and spec.representation == "dense" else 1.0)
    special_ids = set(tokenizer.all_special_ids) - {tokenizer.mask_token_id}
    model = Retriever(backbone, spec, special_ids, scale, options.flops, options.query_flops)
    ramp_batches = max(1.0, steps * options.accumulate * options.ramp)

    def numbered(number: int) -> dict[str, Any]:
        return {**batches(number), "ramp": torch.tensor(min(1.0, (number + 1) / ramp_batches) ** 2)}

    schedule = Schedule(
        steps=steps,
        learning_rate=options.learning_rate,
        warmup=options.warmup,
        weight_decay=options.weight_decay,
        clip=options.clip,
        accumulate=options.accumulate,
        seed=options.seed,
        save_every=options.save_every,
        log_every=options.log_every,
        bf16=options.bf16,
    )
    unused = _unused(backbone) if spec.representation == "dense" else []
    for parameter in unused:
        parameter.requires_grad_(False)
    make_fast(backbone)
    set_dropout(backbone, options.dropout)
    counts = fit(model, numbered, schedule, folder, f"fine-tuning ({spec.representation})")
    _check_terms(counts, backbone.vocabulary_size)
    for parameter in unused:
        parameter.requires_grad_(True)
    save_backbone(backbone, tokenizer, folder)
    write_spec(folder, replace(spec, objective="contrastive"))
    clear_checkpoints(folder)
    return {"pairs": len(pairs), **counts}


def _check(spec: Spec, pairs: Sequence[Pair], negatives: Sequence[Sequence[Negative]], options: FinetuneOptions) -> None:
    """What is asked for must be there."""
    if spec.representation not in ("dense", "lexicon"):
        raise UserError(f"cannot fine-tune the representation {spec.representation!r}", mend="choose dense or lexicon")
    if len(pairs) < 2:
        raise UserError(f"{len(pairs)} training pair: in-batch negatives need at least two", mend="add documents or judgments")
    if options.queries < 2:
        raise UserError(f"{options.queries} queries a batch: in-batch negatives need at least two", mend="raise finetune.queries")
    fewest = min(map(len, negatives))
    if fewest < options.hard:
        raise UserError(
            f"{options.hard} hard negatives a query are asked for, {fewest} were mined", mend="raise mining.per_query or lower finetune.hard"
        )


def _unused(backbone: Backbone) -> list[nn.Parameter]:
    """Parameters that a dense vector does not depend on: the LM head's own, not its matrix, which is the word embeddings'."""
    dense, _, norm = backbone.head
    return [parameter for parameter in (*dense.parameters(), *norm.parameters(), backbone.vocabulary_bias) if parameter is not None]


def _check_terms(counts: dict[str, float], vocabulary: int) -> None:
    """Say so when a lexicon ended dead (no terms) or dense (hardly a zero): both search badly, and neither shows in the loss."""
    terms = counts.get("document_terms", 1.0)
    if terms < 1:
        say("Warning: the documents have no lexicon terms left; lower flops, or pre-train longer before fine-tuning")
    elif terms > DENSE_LEXICON * vocabulary:
        say(f"Warning: {terms:,.0f} lexicon terms a document; raise flops, or train longer")
