"""What one training step sees: queries, and all their documents as one length-sorted pass under a token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from retrolex.backbones import Spec
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.pairs import Pair, known_positives

SIMILAR = 0.75  # a text shorter than this share of its part's longest starts a part of its own: padding costs as much as text


class Batches:
    """Batches by number; what a batch holds follows from (seed, number) alone.

    Args:
        pairs: training pairs, shuffled anew in every pass over them.
        negatives: one list a pair, from which every batch samples.
        text: the text of a document id.
        queries: pairs a batch.
        hard: hard negatives a pair.
        token_budget: tokens that go through the encoder at once, padding included.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        negatives: Sequence[Sequence[Negative]],
        text: Callable[[str], str],
        tokenizer: PreTrainedTokenizerBase,
        spec: Spec,
        *,
        queries: int,
        hard: int,
        token_budget: int,
        seed: int,
    ):
        self.pairs, self.negatives, self.text = pairs, negatives, text
        self.tokenizer, self.spec = tokenizer, spec
        self.queries, self.hard, self.token_budget, self.seed = min(queries, len(pairs)), hard, token_budget, seed
        self.known = known_positives(pairs)

    def __len__(self) -> int:
        """Batches in one pass over the pairs; the remainder joins the next pass's luck of the draw."""
        return len(self.pairs) // self.queries

    def __call__(self, number: int) -> dict[str, Any]:
        """Tokens of a batch, and which documents are no negatives of which query.

        Returns:
            ``queries`` and ``documents``: see `encoded`; ``excluded``: bool [Q, Q * G], see `losses.info_nce`.
        """
        chosen = self.chosen(number)
        rng = np.random.default_rng((self.seed, 1, number))
        texts, originals = [], []
        for i in chosen:
            pair = self.pairs[i]
            picked = [self.negatives[i][j] for j in sorted(rng.permutation(len(self.negatives[i]))[: self.hard])]
            texts += [pair.positive, *(self.text(negative.document) for negative in picked)]
            originals += [pair.original, *(negative.original for negative in picked)]
        pairs = [self.pairs[i] for i in chosen]
        prefixes = self.spec.query_prefix, self.spec.document_prefix
        return {
            "queries": self.encoded([prefixes[0] + pair.query for pair in pairs], self.spec.query_length),
            "documents": self.encoded([prefixes[1] + text for text in texts], self.spec.document_length),
            "excluded": excluded([self.known[pair.query] for pair in pairs], originals),
        }

    def chosen(self, number: int) -> list[int]:
        """Which pairs batch `number` holds."""
        turn, place = divmod(number, len(self))
        order = np.random.default_rng((self.seed, 0, turn)).permutation(len(self.pairs))
        return order[place * self.queries : (place + 1) * self.queries].tolist()

    def encoded(self, texts: list[str], length: int) -> dict[str, Any]:
        """Distinct texts as padded parts of similar length, the longest first.

        Returns:
            ``parts``: dicts of ``input_ids`` and ``attention_mask`` [b, L]; ``rows`` [n]: the row of every text in the
            parts laid one below the other.
        """
        distinct = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        tokens = self.tokenizer(list(distinct), truncation=True, max_length=length)["input_ids"]
        order = sorted(range(len(tokens)), key=lambda i: -len(tokens[i]))  # stable, so the same on every machine
        parts: list[list[int]] = []
        for i in order:
            longest = len(tokens[parts[-1][0]]) if parts else 0
            if len(tokens[i]) >= SIMILAR * longest > 0 and (len(parts[-1]) + 1) * longest <= self.token_budget:
                parts[-1].append(i)
            else:
                parts.append([i])
        place = {i: row for row, i in enumerate(order)}
        return {
            "parts": [padded([tokens[i] for i in part], self.tokenizer.pad_token_id) for part in parts],
            "rows": torch.tensor([place[distinct[text]] for text in texts]),
        }


def padded(rows: list[list[int]], pad: int) -> dict[str, Tensor]:
    """Token rows as one matrix, and which of it is text."""
    ids = torch.full((len(rows), max(map(len, rows))), pad, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask}


def excluded(positives: Sequence[set[str]], originals: Sequence[str]) -> Tensor:
    """Documents that answer a query, or have the text of one that does, other than the positive it is trained on.

    Args:
        positives: originals that answer each query.
        originals: of the batch's documents, group after group, the positive first.

    Returns:
        bool [Q, Q * G].
    """
    size = len(originals) // len(positives)
    mask = torch.tensor([[original in known for original in originals] for known in positives])
    own = torch.arange(len(positives))
    mask[own, own * size] = False
    return mask
