"""Batches of masked text: which chunks, in which order, and what is hidden from whom. All of it follows from numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from retrolex.errors import UserError
from retrolex.tokens import Chunks, Tokens, Vocabulary, masks

POOL = 64  # batches' worth of chunks that are sorted by length together


@dataclass(frozen=True)
class Masking:
    """What is hidden.

    Attributes:
        encoder_rate, decoder_rate: shares of the ordinary tokens.
        replacement: what masked tokens become: ``mask``, or ``80-10-10`` as in BERT.
        decoder_view: what the decoder needs: ``visibility`` (enhanced decoding), a second masked text that contains the
            encoder's mask (``inclusive``), ignores it (``random``) or avoids it (``exclusive``); None for no decoder.
    """

    encoder_rate: float
    decoder_rate: float
    replacement: Literal["mask", "80-10-10"]
    decoder_view: str | None


class BatchMaker:
    """Makes the masked batch of any chunks at any step."""

    def __init__(self, tokens: Tokens, chunks: Chunks, vocabulary: Vocabulary, masking: Masking, seed: int):
        self.tokens, self.chunks, self.vocabulary, self.masking, self.seed = tokens, chunks, vocabulary, masking, seed
        self.is_special = np.zeros(vocabulary.size, dtype=bool)
        self.is_special[list(vocabulary.special)] = True

    def __call__(self, numbers: np.ndarray, step: int) -> dict[str, Tensor]:
        """The batch of chunks `numbers` [B].

        Returns:
            input_ids, attention_mask, encoder_input_ids, encoder_labels [B, L] int64; text_mask [B, L] bool; decoder_labels
            [B, L] with decoder_visible [B, L, L] bool or decoder_input_ids [B, L] int64, where there is a decoder.
        """
        masking, vocabulary = self.masking, self.vocabulary
        ids, starts = self.frame(numbers)
        attended = np.arange(ids.shape[1]) < (self.chunks.lengths[numbers] + 2)[:, None]
        ordinary = attended & ~self.is_special[ids]
        words = masks.word_numbers(starts, ordinary)
        rngs = masks.generators(self.seed, step, numbers)
        chosen = masks.choose_words(words, masks.targets(ordinary, masking.encoder_rate), rngs)
        batch = {
            "input_ids": ids,
            "attention_mask": attended.astype(np.int64),
            "text_mask": ordinary,
            "encoder_input_ids": masks.corrupt(ids, chosen, vocabulary.mask, masking.replacement, vocabulary.ordinary, rngs),
            "encoder_labels": masks.labels(ids, chosen),
        }
        if masking.decoder_view == "visibility":
            batch["decoder_visible"] = masks.visibility(words, attended, masking.decoder_rate, rngs)
            batch["decoder_labels"] = masks.labels(ids, ordinary)
        elif masking.decoder_view is not None:
            hidden = masks.decoder_mask(words, chosen, ordinary, masking.decoder_rate, masking.decoder_view, rngs)
            batch["decoder_input_ids"] = masks.corrupt(ids, hidden, vocabulary.mask, masking.replacement, vocabulary.ordinary, rngs)
            batch["decoder_labels"] = masks.labels(ids, hidden)
        return {name: torch.from_numpy(values) for name, values in batch.items()}

    def frame(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Token ids [B, L] of chunks with their special tokens, padded on the right; and where words start, [B, L] bool."""
        lengths = self.chunks.lengths[numbers]
        width = int(lengths.max()) + 2
        ids = np.full((len(numbers), width), self.vocabulary.pad, dtype=np.int64)
        starts = np.ones(ids.shape, dtype=bool)
        ids[:, 0] = self.vocabulary.first
        ids[np.arange(len(numbers)), lengths + 1] = self.vocabulary.last
        row = np.repeat(np.arange(len(numbers)), lengths)
        column = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        places = np.repeat(self.chunks.start[numbers], lengths) + column
        ids[row, column + 1] = self.tokens.ids[places]
        starts[row, column + 1] = self.tokens.word_starts(places)
        return ids, starts


class Plan:
    """Which chunks make which batch: epochs in random order, chunks of similar length together, batches under a token budget.

    Args:
        lengths: of the chunks, specials included [n].
        budget: tokens of a batch over all processes, padding included.
        processes: that share each batch; each gets every `processes`-th chunk of it.
        seed: of the order.

    Raises:
        UserError: there are fewer chunks than processes.
    """

    def __init__(self, lengths: np.ndarray, budget: int, processes: int, seed: int):
        if len(lengths) < max(processes, 1):
            raise UserError(f"{len(lengths)} chunks of text for {processes} processes", mend="train on more text")
        self.lengths, self.budget, self.processes, self.seed = lengths, budget, processes, seed
        self.epochs = [self.epoch(0)]

    def epoch(self, number: int) -> list[np.ndarray]:
        """The batches of an epoch; each chunk is in exactly one."""
        rng = np.random.default_rng([self.seed, number])
        order = rng.permutation(len(self.lengths))
        size = max(1, int(POOL * self.budget / self.lengths.mean()))
        batches: list[np.ndarray] = []
        for start in range(0, len(order), size):
            pool = order[start : start + size]
            pool = pool[np.argsort(-self.lengths[pool], kind="stable")]
            while len(pool):
                count = max(self.processes, self.budget // int(self.lengths[pool[0]]))
                batches.append(pool[:count])
                pool = pool[count:]
            if len(batches[-1]) < self.processes:  # too few to share: they join the batch before
                short = batches.pop()
                batches[-1] = np.concatenate([batches[-1], short])
        return [batches[index] for index in rng.permutation(len(batches))]

    def batch(self, step: int) -> np.ndarray:
        """The chunks of the batch of a step, counted from 0 through all epochs."""
        number = 0
        while step >= len(self.epochs[number]):
            step -= len(self.epochs[number])
            number += 1
            if number == len(self.epochs):
                self.epochs.append(self.epoch(number))
        return self.epochs[number][step]

    def share(self, number: int) -> tuple[np.ndarray, int]:
        """Chunks of one process at one step, both counted by one number, step * processes + process; and the step."""
        step, process = divmod(number, self.processes)
        return self.batch(step)[process :: self.processes], step

    def steps(self, epochs: float) -> int:
        """Steps in so many epochs, going by the first."""
        return max(1, round(epochs * len(self.epochs[0])))
