"""Random masks over whole words, for a batch at a time.

Every row draws from its own generator, seeded by (seed, step, chunk): a batch can be made again without replaying
the ones before it, and a text gets the same masks whichever batch or process it lands in.

All functions take `starts` [B, L] bool (where a word starts) and `ordinary` [B, L] bool (text: no special token, no
padding). Words lie within runs of ordinary positions.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

DecoderMask = Literal["inclusive", "random", "exclusive"]
IGNORED = -100
MASKS = 256  # distinct masks that the rows of one text draw from, as in the published code


def generators(seed: int, step: int, chunks: np.ndarray) -> list[np.random.Generator]:
    """One generator a row."""
    return [np.random.Generator(np.random.SFC64([seed, step, int(number)])) for number in chunks]


def word_numbers(starts: np.ndarray, ordinary: np.ndarray) -> np.ndarray:
    """Number of the word at each ordinary position, counted from 0 in each row; -1 elsewhere; int64 [B, L]."""
    before = np.zeros_like(ordinary)
    before[:, 1:] = ordinary[:, :-1]
    opens = ordinary & (starts | ~before)  # a chunk may begin within a word
    return np.where(ordinary, np.cumsum(opens, axis=1) - 1, -1)


def targets(ordinary: np.ndarray, rate: float) -> np.ndarray:
    """Tokens to choose in each row [B]: the rate of its ordinary tokens, rounded, but at least one."""
    return np.maximum(1, np.rint(rate * ordinary.sum(1))).astype(np.int64)


def choose_words(words: np.ndarray, counts: np.ndarray, rngs: list[np.random.Generator]) -> np.ndarray:
    """Choose whole words at random until each row has its count of tokens; bool [B, L].

    Words are taken in random order while they fit; what is then missing is filled with later words of one token.
    A row's count is missed only where no such word is left, and never exceeded, save that every row with a word gets one.

    Args:
        words: from `word_numbers`; -1 marks positions that may not be chosen.
        counts: tokens wanted in each row [B].
    """
    rows, most = len(words), int(words.max(initial=-1)) + 1
    if most == 0:
        return np.zeros(words.shape, dtype=bool)
    sizes = np.zeros((rows, most), dtype=np.int64)
    row, place = np.nonzero(words >= 0)
    np.add.at(sizes, (row, words[row, place]), 1)
    keys = np.full((rows, most), 2.0, dtype=np.float32)  # words that a row does not have come last
    for index, count in enumerate((sizes > 0).sum(1)):
        keys[index, sizes[index] > 0] = rngs[index].random(count, dtype=np.float32)
    order = np.argsort(keys, axis=1, kind="stable")
    sizes = np.take_along_axis(sizes, order, axis=1)
    reached = np.cumsum(sizes, axis=1)
    taken = (reached <= counts[:, None]) & (sizes > 0)
    missing = counts - (sizes * taken).sum(1)
    single = (sizes == 1) & ~taken
    taken |= single & (np.cumsum(single, axis=1) <= missing[:, None])
    taken[:, 0] |= ~taken.any(1) & (sizes[:, 0] > 0) & (counts > 0)
    chosen = np.zeros((rows, most + 1), dtype=bool)  # the last column answers for -1
    np.put_along_axis(chosen[:, :most], order, taken, axis=1)
    return np.take_along_axis(chosen, words, axis=1)


def decoder_mask(
    words: np.ndarray, encoder: np.ndarray, ordinary: np.ndarray, rate: float, kind: DecoderMask, rngs: list[np.random.Generator]
) -> np.ndarray:
    """LexMAE's decoder mask [B, L] at `rate`, given the encoder's (section 3.2).

    ``inclusive`` contains the encoder's mask, ``exclusive`` avoids it, ``random`` does not know it.
    """
    counts = targets(ordinary, rate)
    if kind == "random":
        return choose_words(words, counts, rngs)
    free = np.where(encoder, -1, words)
    if kind == "exclusive":
        return choose_words(free, counts, rngs)
    extra = np.maximum(counts - encoder.sum(1), 0)
    return encoder | choose_words(free, extra, rngs)


def corrupt(
    ids: np.ndarray, chosen: np.ndarray, mask: int, replacement: Literal["mask", "80-10-10"], ordinary: np.ndarray, rngs: list[np.random.Generator]
) -> np.ndarray:
    """Replace the chosen tokens: all by [MASK], or as BERT does: 80% [MASK], 10% a random word, 10% left as they are.

    Args:
        ids: [B, L]; not changed.
        mask: id of [MASK].
        ordinary: ids that a random replacement may be (`Vocabulary.ordinary`).
    """
    if replacement == "mask":
        return np.where(chosen, mask, ids)
    counts = chosen.sum(1)
    draws = np.concatenate([rng.random(count) for rng, count in zip(rngs, counts, strict=True)])
    words = ordinary[np.concatenate([rng.integers(len(ordinary), size=count) for rng, count in zip(rngs, counts, strict=True)])]
    corrupted = ids.copy()
    corrupted[chosen] = np.where(draws < 0.8, mask, np.where(draws < 0.9, words, ids[chosen]))
    return corrupted


def visibility(words: np.ndarray, attended: np.ndarray, rate: float, rngs: list[np.random.Generator]) -> np.ndarray:
    """Which positions (last axis) each row of the enhanced decoder may look at; bool [B, L, L] (RetroMAE, equation 7).

    Each row hides each word with probability `rate`, independently of the other rows; a text of more than MASKS positions
    shares MASKS such masks among its rows at random. Column 0, the sentence vector, is always visible; the row's own
    position never is (so row 0, which predicts nothing, sees the rest only); padding never is; other special tokens are.

    Args:
        words: from `word_numbers` [B, L].
        attended: the attention mask [B, L] bool: padding on the right.
    """
    batch, length = words.shape
    visible = np.zeros((batch, length, length), dtype=bool)
    for index, rng in enumerate(rngs):
        own = int(attended[index].sum())
        masks, count = min(own, MASKS), int(words[index].max(initial=-1)) + 1
        # A random byte for each word and mask, against a bound rounded up or down at random, so that the rate is exact.
        draws = rng.bit_generator.random_raw(count * masks // 8 + 1).view(np.uint8)[: count * masks].reshape(count, masks)
        bounds = np.minimum(256 * rate + rng.random(masks), 255).astype(np.uint8)
        # Kept as [words, masks], so that spreading words over their tokens copies whole rows.
        shown = np.empty((count + 1, masks), dtype=bool)
        np.greater_equal(draws, bounds, out=shown[:count])
        shown[count] = True  # answers for -1: special tokens
        by_key = shown[words[index, :own]].T
        visible[index, :own, :own] = by_key if masks == own else np.ascontiguousarray(by_key)[rng.integers(masks, size=own)]
    visible[:, :, 0] = True
    diagonal = np.arange(length)
    visible[:, diagonal, diagonal] = False
    return visible


def labels(ids: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The tokens to predict, IGNORED elsewhere."""
    return np.where(chosen, ids, IGNORED)
