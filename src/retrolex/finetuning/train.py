"""Fine-tuning of a masked LM into a retriever: one loop for dense vectors, lexicon weights and both together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from retrolex.backbones import Backbone, Spec, save_backbone, write_spec
from retrolex.backbones.two_part import new_projection, save_projection
from retrolex.errors import UserError
from retrolex.finetuning import processes
from retrolex.finetuning.batches import Batches
from retrolex.finetuning.lora import add_adapters, merge_adapters
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.options import FinetuneOptions
from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.retriever import TEACHERS, Retriever
from retrolex.pretraining.fast import make_fast
from retrolex.pretraining.watch import ALIKE
from retrolex.progress import say
from retrolex.training import Schedule, clear_checkpoints, fit, set_dropout

__all__ = ["FinetuneOptions", "Retriever", "finetune"]

DENSE_LEXICON = 0.2  # share of the vocabulary in an average document beyond which an inverted index no longer pays


def finetune(
    backbone: Backbone,
    tokenizer: PreTrainedTokenizerBase,
    spec: Spec,
    pairs: Sequence[Pair],
    negatives: Sequence[Sequence[Negative]],
    text: Callable[[str], str],
    folder: Path,
    options: FinetuneOptions,
    teacher: np.ndarray | None = None,
    known: Mapping[str, set[str]] | None = None,
    projection: nn.Linear | None = None,
    cached: Callable[[str], Sequence[int]] | None = None,
) -> dict[str, float]:
    """Fine-tune `backbone` and write it as a model folder; a killed call continues where its last checkpoint was.

    Args:
        backbone, tokenizer, spec: the start, and how its vectors are made.
        pairs, negatives: what to learn from; one list of negatives a pair.
        text: full text of a document id.
        folder: gets the model, ``retrolex.json`` and ``logs/train.jsonl``.
        options: see there.
        teacher: scores of every pair's positive and then of its negatives, float32 [pairs, 1 + negatives], for the losses that want one.
        known: query text -> originals that answer it, besides those of `pairs`: no negatives of it either.
        projection: of two-part vectors' dense part, where the start has one.
        cached: tokens of a whole document by its id, see `Batches`.

    Returns:
        Steps, and the last logged losses.

    Raises:
        UserError: too few pairs, queries or negatives, no teacher where one is needed, a loss that is no number.
    """
    _check(pairs, negatives, options, teacher)
    together, rank = processes.launched()
    budget = min(options.token_budget, options.chunk or options.token_budget)
    sizes = {"queries": options.queries, "hard": options.hard, "token_budget": budget, "seed": options.seed}
    scores = teacher if options.loss in TEACHERS else None
    batches = Batches(pairs, negatives, text, tokenizer, spec, **sizes, teacher=scores, processes=together, known=known, cached=cached)
    steps = options.steps or max(1, round(options.epochs * len(batches) / (options.accumulate * together)))
    # FLOPS of a step is no sum over its batches: where it counts, one batch that the Trainer sees holds all of them.
    joint = options.accumulate if spec.representation != "dense" else 1
    if joint > 1 and options.chunk is None:
        options = replace(options, chunk=budget)

    def numbered(number: int) -> dict[str, Any]:
        step, place = divmod(number, together)
        rise = 1.0 if not options.ramp else min(1.0, (step * joint // options.accumulate + 1) / max(1.0, steps * options.ramp))
        return {"batches": [batches((step * joint + i) * together + place) for i in range(joint)], "ramp": torch.tensor(rise**2)}

    if spec.representation == "dupmae" and projection is None:
        projection = new_projection(backbone.hidden_size, options.seed)
    special_ids = set(tokenizer.all_special_ids) - {tokenizer.mask_token_id}
    make_fast(backbone)
    set_dropout(backbone, options.dropout)
    adapters = add_adapters(backbone, options.lora, options.seed) if options.lora else None
    model = Retriever(backbone, spec, special_ids, options, projection)
    unused = [parameter for parameter in _unused(backbone) if parameter.requires_grad] if spec.representation == "dense" else []
    for parameter in unused:
        parameter.requires_grad_(False)
    counts = fit(model, numbered, _schedule(options, steps, joint), folder, f"fine-tuning ({spec.representation})")
    for parameter in unused:
        parameter.requires_grad_(True)
    _check_vectors(counts, backbone.vocabulary_size)
    if adapters is not None:
        merge_adapters(backbone, adapters)
    if rank == 0:
        save_backbone(backbone, tokenizer, folder)
        if projection is not None:
            save_projection(projection, folder)
        write_spec(folder, replace(spec, objective=options.loss))
        clear_checkpoints(folder)
    return {"pairs": len(pairs), **counts}


def _schedule(options: FinetuneOptions, steps: int, joint: int) -> Schedule:
    """The training loop's part of the options."""
    return Schedule(
        steps=steps,
        learning_rate=options.learning_rate,
        warmup=options.warmup,
        weight_decay=options.weight_decay,
        clip=options.clip,
        accumulate=options.accumulate // joint,
        seed=options.seed,
        save_every=options.save_every,
        log_every=options.log_every,
        bf16=options.bf16,
        report_to=tuple(options.report_to),
    )


def _check(pairs: Sequence[Pair], negatives: Sequence[Sequence[Negative]], options: FinetuneOptions, teacher: np.ndarray | None) -> None:
    """What is asked for must be there."""
    if len(pairs) < 2:
        raise UserError(f"{len(pairs)} training pair: in-batch negatives need at least two", mend="add documents or judgments")
    if options.queries < 2:
        raise UserError(f"{options.queries} queries a batch: in-batch negatives need at least two", mend="raise finetune.queries")
    fewest = min(map(len, negatives))
    if fewest < options.hard:
        raise UserError(
            f"{options.hard} hard negatives a query are asked for, {fewest} were mined", mend="raise mining.per_query or lower finetune.hard"
        )
    if options.loss in TEACHERS and teacher is None:
        raise UserError(f"the loss {options.loss!r} learns from a teacher's scores", mend="name a teacher, or choose the loss contrastive")
    if options.loss == "margin_mse" and not options.hard:
        raise UserError("the loss 'margin_mse' compares a positive with hard negatives", mend="raise finetune.hard")


def _unused(backbone: Backbone) -> list[nn.Parameter]:
    """Parameters that a dense vector does not depend on: the LM head's own, not its matrix, which is the word embeddings'."""
    dense, _, norm = backbone.head
    return [parameter for parameter in (*dense.parameters(), *norm.parameters(), backbone.vocabulary_bias) if parameter is not None]


def _check_vectors(counts: dict[str, float], vocabulary: int) -> None:
    """Say so when vectors ended all alike, or a lexicon dead (no terms) or dense (hardly a zero): all search badly, and none shows in the loss."""
    if counts.get("document_cosine", 0.0) > ALIKE:
        say(f"Warning: the documents' vectors are nearly the same (mean cosine {counts['document_cosine']:.4f}); lower the learning rate")
    terms = counts.get("document_terms", 1.0)
    if terms < 1:
        say("Warning: the documents have no lexicon terms left; lower flops, or pre-train longer before fine-tuning")
    elif terms > DENSE_LEXICON * vocabulary:
        say(f"Warning: {terms:,.0f} lexicon terms a document; raise flops, or train longer")
