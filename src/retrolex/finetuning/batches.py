"""What one training step sees: queries, and all their documents as one length-sorted pass under a token budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
        teacher: scores of every pair's positive and then of its negatives in their order, float32 [pairs, 1 + negatives].
        processes: how many train together, each with a batch of its own: numbers p * processes to p * processes + processes - 1 make
            one large batch, of which each sees its own queries and what all documents are to them.
        known: query text -> originals that answer it, besides those of `pairs`: no negatives of it either.
        cached: the tokens of a whole document by its id, special tokens included, where there is a cache of them; queries, and positives
            that are cut from documents, are tokenised from their texts.
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
        teacher: np.ndarray | None = None,
        processes: int = 1,
        known: Mapping[str, set[str]] | None = None,
        cached: Callable[[str], Sequence[int]] | None = None,
    ):
        self.pairs, self.negatives, self.text = pairs, negatives, text
        self.tokenizer, self.spec = tokenizer, spec
        self.queries, self.hard, self.token_budget, self.seed = min(queries, len(pairs)), hard, token_budget, seed
        self.teacher, self.processes, self.cached = teacher, processes, cached
        known = known or {}
        self.known = {query: found | known.get(query, set()) for query, found in known_positives(pairs).items()}

    def __len__(self) -> int:
        """Batches in one pass over the pairs; the remainder joins the next pass's luck of the draw."""
        return len(self.pairs) // self.queries

    def __call__(self, number: int) -> dict[str, Any]:
        """Tokens of a batch, and which documents are no negatives of which query.

        Returns:
            ``queries`` and ``documents``: see `encoded`; ``own`` [Q]: the column of each query's positive among all processes' documents;
            ``excluded``: bool [Q, processes * Q * G], see `losses.info_nce`; with a teacher, ``teacher`` [Q, G]: its scores.
        """
        place = number % self.processes
        groups = [self.groups(peer) for peer in range(number - place, number - place + self.processes)]
        originals = [original for peer in groups for i, picked in peer for original in self.originals(i, picked)]
        pairs = [self.pairs[i] for i, _ in groups[place]]
        texts = [text for i, picked in groups[place] for text in self.texts(i, picked)]
        size = len(texts) // len(pairs)
        own = torch.arange(len(pairs)) * size + place * len(texts)
        prefixes = self.spec.query_prefix, self.spec.document_prefix
        batch = {
            "queries": self.encoded([prefixes[0] + pair.query for pair in pairs], self.spec.query_length),
            "documents": self.encoded([prefixes[1] + text for text in texts], self.spec.document_length, self.whole(groups[place])),
            "own": own,
            "excluded": excluded([self.known[pair.query] for pair in pairs], originals, own),
        }
        if self.teacher is not None:
            columns = [[0, *(1 + j for j in picked)] for _, picked in groups[place]]
            batch["teacher"] = torch.tensor(np.stack([self.teacher[i][row] for (i, _), row in zip(groups[place], columns, strict=True)]))
        return batch

    def groups(self, number: int) -> list[tuple[int, list[int]]]:
        """Batch `number`'s pairs, and which of their negatives it holds; the same in every process."""
        turn = number // len(self)
        return [(i, self.picked(turn, i)) for i in self.chosen(number)]

    def picked(self, turn: int, pair: int) -> list[int]:
        """The negatives that a pair is seen with in a pass over the pairs."""
        rng = np.random.default_rng((self.seed, 1, turn, pair))
        return sorted(rng.permutation(len(self.negatives[pair]))[: self.hard].tolist())

    def texts(self, pair: int, picked: list[int]) -> list[str]:
        """The documents of a group, the positive first."""
        return [self.pairs[pair].positive, *(self.text(self.negatives[pair][j].document) for j in picked)]

    def whole(self, groups: list[tuple[int, list[int]]]) -> dict[str, Sequence[int]]:
        """Text -> cached tokens of the groups' negatives, which are whole documents."""
        if self.cached is None:
            return {}
        ids = dict.fromkeys(self.negatives[i][j].document for i, picked in groups for j in picked)
        return {self.text(id): self.cached(id) for id in ids}

    def originals(self, pair: int, picked: list[int]) -> list[str]:
        """Their originals."""
        return [self.pairs[pair].original, *(self.negatives[pair][j].original for j in picked)]

    def chosen(self, number: int) -> list[int]:
        """Which pairs batch `number` holds."""
        turn, place = divmod(number, len(self))
        order = np.random.default_rng((self.seed, 0, turn)).permutation(len(self.pairs))
        return order[place * self.queries : (place + 1) * self.queries].tolist()

    def encoded(self, texts: list[str], length: int, cached: Mapping[str, Sequence[int]] | None = None) -> dict[str, Any]:
        """Distinct texts as padded parts of similar length, the longest first; the tokens of some may be there already.

        Returns:
            ``parts``: dicts of ``input_ids`` and ``attention_mask`` [b, L]; ``rows`` [n]: the row of every text in the
            parts laid one below the other.
        """
        distinct = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        cached = cached or {}
        fresh = [text for text in distinct if text not in cached]
        cut = dict(zip(fresh, self.tokenizer(fresh, truncation=True, max_length=length)["input_ids"], strict=True)) if fresh else {}
        tokens = [cut[text] if text in cut else cached[text] for text in distinct]
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


def excluded(positives: Sequence[set[str]], originals: Sequence[str], own: Tensor) -> Tensor:
    """Documents that answer a query, or have the text of one that does, other than the positive it is trained on.

    Args:
        positives: originals that answer each query.
        originals: of the batch's documents [N].
        own: column of the positive that each query is trained on [Q].

    Returns:
        bool [Q, N].
    """
    columns: dict[str, list[int]] = {}
    for column, original in enumerate(originals):
        columns.setdefault(original, []).append(column)
    mask = torch.zeros(len(positives), len(originals), dtype=torch.bool)
    for row, known in enumerate(positives):
        mask[row, [column for original in known for column in columns.get(original, ())]] = True
    mask[torch.arange(len(positives)), own] = False
    return mask
