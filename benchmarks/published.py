"""The published pre-training recipes, restated plainly: full-vocabulary logits at every position, masks by Python loops.

The weights and the decoder layer are those of our own objectives, so that both compute one loss from one batch; what
differs is what the published code spends its time on.
"""

from __future__ import annotations

import copy
import random

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from retrolex.pretraining.decoders import with_sentence


def whole_word_mask(words: list[list[int]], rate: float, length: int) -> list[int]:
    """One whole-word mask of a text as a list of 0 and 1."""
    wanted = max(1, round(length * rate))
    order = list(words)
    random.shuffle(order)
    hidden: set[int] = set()
    for word in order:
        if len(hidden) >= wanted:
            break
        if len(hidden) + len(word) <= wanted:
            hidden.update(word)
    return [1 if place in hidden else 0 for place in range(length)]


def corrupt(ids: Tensor, chosen: Tensor, mask: int, low: int, high: int) -> Tensor:
    """80% [MASK], 10% a random id, 10% as it was."""
    ids = ids.clone()
    replaced = torch.bernoulli(torch.full(ids.shape, 0.8)).bool() & chosen
    ids[replaced] = mask
    other = torch.bernoulli(torch.full(ids.shape, 0.5)).bool() & chosen & ~replaced
    ids[other] = torch.randint(low, high, ids.shape)[other]
    return ids


def retromae_batch(rows: list[list[int]], mask: int, low: int, high: int) -> dict[str, Tensor]:
    """Framed texts [L] to a batch: up to 256 whole-word masks a text, one of them copied for each decoder row."""
    fields = ("input_ids", "encoder_input_ids", "encoder_labels", "decoder_labels", "decoder_visible")
    examples: dict[str, list[Tensor]] = {name: [] for name in fields}
    for row in rows:
        length, words = len(row), [[place] for place in range(1, len(row) - 1)]
        ids = torch.tensor(row)
        chosen = torch.tensor(whole_word_mask(words, 0.3, length)).bool()
        pool = [whole_word_mask(words, 0.5, length) for _ in range(min(length, 256))]
        hidden = []
        for place in range(length):
            own = copy.deepcopy(pool[random.randint(0, len(pool) - 1)])
            own[place] = 1
            hidden.append(own)
        examples["input_ids"].append(ids)
        examples["encoder_input_ids"].append(corrupt(ids, chosen, mask, low, high))
        examples["encoder_labels"].append(torch.where(chosen, ids, -100))
        labels = ids.clone()
        labels[[0, -1]] = -100
        examples["decoder_labels"].append(labels)
        examples["decoder_visible"].append(1 - torch.tensor(hidden))
    batch = {name: torch.stack(tensors) for name, tensors in examples.items()}
    return {**batch, "attention_mask": torch.ones_like(batch["input_ids"])}


def lexmae_batch(rows: list[list[int]], mask: int, low: int, high: int) -> dict[str, Tensor]:
    """Framed texts [L] to a batch; the decoder's mask contains the encoder's."""
    examples: dict[str, list[Tensor]] = {
        name: [] for name in ("input_ids", "encoder_input_ids", "encoder_labels", "decoder_input_ids", "decoder_labels", "text_mask")
    }
    for row in rows:
        length = len(row)
        ids = torch.tensor(row)
        chosen = whole_word_mask([[place] for place in range(1, length - 1)], 0.3, length)
        rest = [[place] for place in range(1, length - 1) if not chosen[place]]
        wider = np.maximum(chosen, whole_word_mask(rest, 0.2, length)).tolist()
        encoder, decoder = torch.tensor(chosen).bool(), torch.tensor(wider).bool()
        text = torch.ones(length, dtype=torch.bool)
        text[[0, -1]] = False
        examples["input_ids"].append(ids)
        examples["text_mask"].append(text)
        for name, hidden in (("encoder", encoder), ("decoder", decoder)):
            examples[f"{name}_input_ids"].append(corrupt(ids, hidden, mask, low, high))
            examples[f"{name}_labels"].append(torch.where(hidden, ids, -100))
    batch = {name: torch.stack(tensors) for name, tensors in examples.items()}
    return {**batch, "attention_mask": torch.ones_like(batch["input_ids"])}


def full_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy over every position's full logits."""
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1), ignore_index=-100)


class PublishedRetroMAE(nn.Module):
    """RetroMAE with enhanced decoding over the weights of our objective."""

    def __init__(self, objective: nn.Module):
        super().__init__()
        self.objective = objective

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """The sum of both losses."""
        lm, mask = self.objective.backbone.model, batch["attention_mask"]
        out = lm(input_ids=batch["encoder_input_ids"], attention_mask=mask, labels=batch["encoder_labels"], output_hidden_states=True)
        decoded = self.objective.decode(out.hidden_states[-1][:, 0], batch)
        return out.loss + full_loss(lm.cls(decoded), batch["decoder_labels"])


class PublishedLexMAE(nn.Module):
    """LexMAE over the weights of our objective."""

    def __init__(self, objective: nn.Module):
        super().__init__()
        self.objective = objective

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """The sum of both losses."""
        objective, lm, mask = self.objective, self.objective.backbone.model, batch["attention_mask"]
        out = lm(input_ids=batch["encoder_input_ids"], attention_mask=mask, labels=batch["encoder_labels"], output_hidden_states=True)
        words = objective.backbone.word_embeddings.weight
        pooled = (out.logits + (~batch["text_mask"])[..., None] * -10000.0).max(1).values
        squeezed = torch.softmax(pooled, -1) @ words.detach()
        stream = with_sentence(squeezed, objective.backbone.embed(batch["decoder_input_ids"]))
        for layer in objective.decoder:
            stream = layer(stream, stream, mask.bool()[:, None])
        head = objective.decoder_head
        return out.loss + full_loss(F.linear(head.transform(stream), words, head.vocabulary_bias), batch["decoder_labels"])
