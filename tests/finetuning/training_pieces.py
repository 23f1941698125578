"""A model and batches for tests of the loss itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from retrolex.backbones import Spec, load_backbone
from retrolex.backbones.two_part import new_projection
from retrolex.finetuning.batches import Batches
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.options import FinetuneOptions
from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.retriever import Retriever
from retrolex.training import set_dropout

TOPICS = ["wing", "vitamin", "file", "round", "climate", "table", "bread", "river"]
TEXTS = {topic: f"the {topic} is what this text is about" + " and nothing else" * (i % 3) for i, topic in enumerate(TOPICS)}
PAIRS = [Pair(f"about the {topic}", TEXTS[topic], topic, topic, "title") for topic in TOPICS]
NEGATIVES = [[Negative(TOPICS[(i + j) % 8], TOPICS[(i + j) % 8], "bm25", j, 1.0) for j in (1, 2)] for i in range(8)]
SCORES = np.linspace(-3, 3, 24, dtype=np.float32).reshape(8, 3)[:, ::-1].copy()
SPECS = {
    "dense": Spec("dense", "mean", True, 32, 16),
    "lexicon": Spec("lexicon", "cls", False, 32, 16),
    "dupmae": Spec("dupmae", "cls", False, 32, 16),
}


def pieces(start: Path, name: str, options: FinetuneOptions, dropout: float = 0.0) -> tuple[Retriever, Batches]:
    """A retriever in training mode, and its batches."""
    backbone, tokenizer = load_backbone(start)
    set_dropout(backbone, dropout)
    special = set(tokenizer.all_special_ids) - {tokenizer.mask_token_id}
    budget = options.chunk or options.token_budget
    sizes = {"queries": options.queries, "hard": options.hard, "token_budget": budget, "seed": 0}
    batches = Batches(PAIRS, NEGATIVES, TEXTS.__getitem__, tokenizer, SPECS[name], **sizes, teacher=SCORES)
    projection = new_projection(backbone.hidden_size, 0) if name == "dupmae" else None
    return Retriever(backbone, SPECS[name], special, options, projection).train(), batches


def gradients(model: Retriever) -> dict[str, torch.Tensor]:
    """Of every parameter that has one."""
    return {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}
