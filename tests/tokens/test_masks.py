"""The laws that masks obey, whatever the text."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.tokens import masks

FIRST, LAST, PAD, MASK = 1, 2, 0, 3
ORDINARY = np.arange(10, 60)


@st.composite
def batches(draw):
    """ids [B, L], starts, ordinary, attended: framed texts of random lengths and word sizes, padded on the right."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    lengths = rng.integers(1, draw(st.integers(2, 40)), size=draw(st.integers(1, 6)))
    length = int(lengths.max()) + 2
    ids, ordinary = np.full((len(lengths), length), PAD), np.zeros((len(lengths), length), dtype=bool)
    for row, count in enumerate(lengths):
        ids[row, : count + 2] = [FIRST, *rng.choice(ORDINARY, count), LAST]
        ordinary[row, 1 : count + 1] = True
    starts = (rng.random(ids.shape) < draw(st.sampled_from([0.3, 0.8, 1.0]))) | ~ordinary
    return ids, starts, ordinary, ids != PAD


rates = st.sampled_from([0.15, 0.3, 0.5, 0.9])
seeds = st.integers(0, 2**31)


def rngs(seed, rows):
    return masks.generators(seed, 7, np.arange(rows))


def assert_whole_words(chosen, words):
    for row in range(len(words)):
        for word in range(words[row].max() + 1):
            assert len(set(chosen[row, words[row] == word])) == 1


@settings(max_examples=60, deadline=None)
@given(batches(), rates, seeds)
def test_encoder_masks(batch, rate, seed):
    _, starts, ordinary, _ = batch
    words = masks.word_numbers(starts, ordinary)
    wanted = masks.targets(ordinary, rate)
    chosen = masks.choose_words(words, wanted, rngs(seed, len(words)))
    assert not (chosen & ~ordinary).any()  # specials and padding never
    assert_whole_words(chosen, words)
    counts = chosen.sum(1)
    assert (counts >= 1).all()
    for row in range(len(words)):
        sizes = np.bincount(words[row][ordinary[row]])
        assert counts[row] <= wanted[row] or counts[row] in sizes  # more only where a single word is more
        left = np.setdiff1d(np.arange(len(sizes)), words[row][chosen[row]])
        if counts[row] < wanted[row]:
            assert not (sizes[left] == 1).any()  # fewer only where no one-token word is left
    again = masks.choose_words(words, wanted, rngs(seed, len(words)))
    assert np.array_equal(chosen, again)


@settings(max_examples=60, deadline=None)
@given(batches(), rates, seeds, st.sampled_from(["inclusive", "random", "exclusive"]))
def test_decoder_masks(batch, rate, seed, kind):
    _, starts, ordinary, _ = batch
    words = masks.word_numbers(starts, ordinary)
    generators = rngs(seed, len(words))
    encoder = masks.choose_words(words, masks.targets(ordinary, 0.3), generators)
    chosen = masks.decoder_mask(words, encoder, ordinary, rate, kind, generators)
    assert not (chosen & ~ordinary).any()
    assert_whole_words(chosen, words)
    if kind == "inclusive":
        assert (chosen | ~encoder).all()
    if kind == "exclusive":
        assert not (chosen & encoder).any()


@settings(max_examples=60, deadline=None)
@given(batches(), rates, seeds)
def test_visibility(batch, rate, seed):
    _, starts, ordinary, attended = batch
    words = masks.word_numbers(starts, ordinary)
    visible = masks.visibility(words, attended, rate, rngs(seed, len(words)))
    length = words.shape[1]
    assert visible[:, 1:, 0].all()  # the sentence vector
    assert not visible[:, np.arange(length), np.arange(length)].any()
    assert not (visible & ~attended[:, None])[:, :, 1:].any()  # padding
    assert visible.any(2).all()
    for row, (ordinaries, attend) in enumerate(zip(ordinary, attended, strict=True)):
        for place in np.flatnonzero(attend):
            others = np.flatnonzero(attend & ~ordinaries & (np.arange(length) != place))
            assert visible[row, place, others].all()  # special tokens stay visible
            hidden = ~visible[row, place]
            hidden[place] = (
                hidden[words[row] == words[row, place]].all() if ordinaries[place] and (words[row] == words[row, place]).sum() > 1 else False
            )
            shown = {word: set(hidden[(words[row] == word) & (np.arange(length) != place)]) for word in range(words[row].max() + 1)}
            assert all(len(kinds) <= 1 for kinds in shown.values())  # whole words


@settings(max_examples=40, deadline=None)
@given(batches(), seeds)
def test_corruption(batch, seed):
    ids, starts, ordinary, _ = batch
    chosen = masks.choose_words(masks.word_numbers(starts, ordinary), masks.targets(ordinary, 0.5), rngs(seed, len(ids)))
    plain = masks.corrupt(ids, chosen, MASK, "mask", ORDINARY, rngs(seed, len(ids)))
    assert (plain[chosen] == MASK).all() and np.array_equal(plain[~chosen], ids[~chosen])
    mixed = masks.corrupt(ids, chosen, MASK, "80-10-10", ORDINARY, rngs(seed, len(ids)))
    assert np.array_equal(mixed[~chosen], ids[~chosen])
    assert np.isin(mixed[chosen], [MASK, *ORDINARY]).all()


def big(rows=64, length=512, seed=0):
    rng = np.random.default_rng(seed)
    ordinary = np.ones((rows, length), dtype=bool)
    ordinary[:, [0, -1]] = False
    return rng.choice(ORDINARY, (rows, length)), rng.random((rows, length)) < 0.8, ordinary


@pytest.mark.parametrize("rate", [0.15, 0.3, 0.5, 0.7])
def test_realised_rates(rate):
    ids, starts, ordinary = big()
    words = masks.word_numbers(starts, ordinary)
    chosen = masks.choose_words(words, masks.targets(ordinary, rate), rngs(0, 64))
    assert abs(chosen.sum() / ordinary.sum() - rate) < 1e-3
    wider = masks.decoder_mask(words, chosen, ordinary, max(rate, 0.5), "inclusive", rngs(1, 64))
    assert abs(wider.sum() / ordinary.sum() - max(rate, 0.5)) < 1e-3
    visible = masks.visibility(words, np.ones_like(ordinary), rate, rngs(2, 64))[:, 1:-1, 1:-1]
    off_diagonal = ~np.eye(visible.shape[1], dtype=bool)
    assert abs((~visible)[:, off_diagonal].mean() - rate) < 3e-3
    mixed = masks.corrupt(ids, chosen, MASK, "80-10-10", ORDINARY, rngs(3, 64))[chosen]
    assert abs((mixed == MASK).mean() - 0.8) < 0.02
    assert abs((mixed == ids[chosen]).mean() - 0.1 - 0.1 / len(ORDINARY)) < 0.02


def test_every_token_is_as_likely_to_be_chosen():
    ordinary = np.ones((4000, 20), dtype=bool)
    words = masks.word_numbers(np.ones_like(ordinary), ordinary)
    shares = masks.choose_words(words, masks.targets(ordinary, 0.3), rngs(0, 4000)).mean(0)
    assert abs(shares - 0.3).max() < 0.04


def test_rows_of_one_text_differ():
    _, starts, ordinary = big(2, 64)
    visible = masks.visibility(masks.word_numbers(starts, ordinary), np.ones_like(ordinary), 0.5, rngs(0, 2))
    assert len({row.tobytes() for row in visible.reshape(-1, 64)}) == 128


def test_a_text_gets_the_same_masks_in_any_batch():
    _, starts, ordinary = big(3, 40)
    short = np.zeros_like(ordinary)
    short[1, 1:9] = True  # the middle text is shorter than its neighbours
    ordinary = np.where(np.arange(3)[:, None] == 1, short, ordinary)
    attended = ordinary.copy()
    attended[:, 0] = True
    alone = slice(1, 2)

    def draw(starts, ordinary, attended, chunks):
        generators = masks.generators(0, 7, chunks)
        words = masks.word_numbers(starts, ordinary)
        chosen = masks.choose_words(words, masks.targets(ordinary, 0.3), generators)
        mixed = masks.corrupt(np.where(ordinary, 11, 0), chosen, MASK, "80-10-10", ORDINARY, generators)
        return mixed, masks.visibility(words, attended, 0.5, generators)

    together = draw(starts, ordinary, attended, np.array([4, 5, 6]))
    single = draw(starts[alone, :9], ordinary[alone, :9], attended[alone, :9], np.array([5]))
    assert np.array_equal(together[0][alone, :9], single[0])
    assert np.array_equal(together[1][alone, :9, :9], single[1])


def test_a_full_batch_takes_less_than_50_ms_of_one_core():
    ids, starts, ordinary = big()
    attended = np.ones_like(ordinary)
    seconds = []
    for repeat in range(3):
        started = time.process_time()
        generators = masks.generators(0, repeat, np.arange(64))
        words = masks.word_numbers(starts, ordinary)
        chosen = masks.choose_words(words, masks.targets(ordinary, 0.3), generators)
        masks.corrupt(ids, chosen, MASK, "80-10-10", ORDINARY, generators)
        masks.visibility(words, attended, 0.5, generators)
        seconds.append(time.process_time() - started)
    assert min(seconds) < 0.05
