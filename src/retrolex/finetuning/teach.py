"""Training a cross-encoder, the teacher of a distillation: query and document read together, one score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel

from retrolex.backbones import Spec, resolve_start
from retrolex.backbones.checkpoint import quiet
from retrolex.backbones.tokenizer_files import save_tokenizer
from retrolex.errors import UserError
from retrolex.finetuning import processes
from retrolex.finetuning.batches import Batches
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.pairs import Pair
from retrolex.training import Schedule, clear_checkpoints, fit


@dataclass(frozen=True)
class TeachOptions:
    """How to train.

    Attributes:
        steps: optimizer steps; None: `epochs` passes over the pairs.
        epochs: see `steps`.
        queries, hard: queries a batch, negatives a query.
        length: longest input in tokens, query and document together.
        learning_rate, warmup, weight_decay, clip, seed, save_every, bf16: see `training.Schedule`.
    """

    steps: int | None = None
    epochs: float = 1.0
    queries: int = 8
    hard: int = 7
    length: int = 256
    learning_rate: float = 2e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 42
    save_every: int | None = None
    bf16: bool | None = None


class Listwise(nn.Module):
    """A cross-encoder, and the cross-entropy of finding each query's positive in its own group."""

    def __init__(self, model: PreTrainedModel):
        super().__init__()
        self.model = model

    def forward(self, groups: int, **tokens: Tensor) -> dict[str, Tensor]:
        """Tokens of `groups` groups, one below the other, the positive first in each."""
        scores = self.model(**tokens).logits.float().view(groups, -1)
        loss = torch.nn.functional.cross_entropy(scores, torch.zeros(groups, dtype=torch.long, device=scores.device))
        return processes.reported({"loss": loss, "right": (scores.argmax(1) == 0).float().mean()})


def teach(
    start: str | Path,
    pairs: Sequence[Pair],
    negatives: Sequence[Sequence[Negative]],
    text: Callable[[str], str],
    folder: Path,
    options: TeachOptions,
) -> dict[str, float]:
    """Train a cross-encoder and write it as a folder that ``CrossEncoder`` loads; a killed call continues where it was.

    Args:
        start: any BERT-like checkpoint, or a cross-encoder to train further.
        pairs, negatives: what to learn from; one list of negatives a pair.
        text: full text of a document id.
        folder: gets the model and ``logs/train.jsonl``.

    Returns:
        Steps, and the last logged loss.

    Raises:
        UserError: nothing loadable there, or fewer negatives than asked for.
    """
    fewest = min(map(len, negatives), default=0)
    if not 1 <= options.hard <= fewest:
        raise UserError(f"{options.hard} negatives a query are asked for, {fewest} were mined", mend="raise mining.per_query or lower --hard")
    place = resolve_start(str(start))
    torch.manual_seed(options.seed)  # the new output starts from random weights
    with quiet():
        try:
            model = AutoModelForSequenceClassification.from_pretrained(place, num_labels=1, dtype="float32")
            tokenizer = AutoTokenizer.from_pretrained(place, model_max_length=options.length)
        except (OSError, ValueError, RuntimeError, TypeError, ImportError) as error:  # the last two as in load_backbone
            reason = str(error).strip().splitlines()[0]
            raise UserError(f"cannot load a cross-encoder: {reason}", where=place, mend="name a BERT-like checkpoint with one output") from None
    together, rank = processes.launched()
    sizes = {"queries": options.queries, "hard": options.hard, "token_budget": 1, "seed": options.seed}
    batches = Batches(pairs, negatives, text, tokenizer, Spec(), **sizes)

    def numbered(number: int) -> dict[str, Any]:
        groups = batches.groups(number)
        read = [(pairs[i].query, document) for i, picked in groups for document in batches.texts(i, picked)]
        tokens = tokenizer(*map(list, zip(*read, strict=True)), truncation=True, padding=True, max_length=options.length, return_tensors="pt")
        return {"groups": len(groups), **tokens}

    schedule = Schedule(
        steps=options.steps or max(1, round(options.epochs * len(batches) / together)),
        learning_rate=options.learning_rate,
        warmup=options.warmup,
        weight_decay=options.weight_decay,
        clip=options.clip,
        seed=options.seed,
        save_every=options.save_every,
        bf16=options.bf16,
    )
    counts = fit(Listwise(model), numbered, schedule, folder, "teaching (cross-encoder)")
    if rank == 0:
        with quiet():
            model.save_pretrained(folder)
            save_tokenizer(tokenizer, folder)
        clear_checkpoints(folder)
    return {"pairs": len(pairs), **counts}
