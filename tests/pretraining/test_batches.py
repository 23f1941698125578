"""Batches hold every chunk once an epoch, and follow from their number alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.errors import UserError
from retrolex.pretraining.batches import Plan


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(3, 60), min_size=4, max_size=200), st.integers(60, 400), st.integers(1, 4), st.integers(0, 99))
def test_an_epoch_holds_every_chunk_once(lengths, budget, processes, seed):
    lengths = np.asarray(lengths)
    plan = Plan(lengths, budget, processes, seed)
    batches = plan.epochs[0]
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) >= processes
        # A last handful too small to share may push a batch over the budget, by less than one chunk a process.
        assert len(batch) * lengths[batch].max() <= budget or len(batch) <= max(processes, budget // lengths[batch].max()) + processes - 1


def test_epochs_differ_and_batches_follow_from_their_number():
    lengths = np.random.default_rng(0).integers(3, 60, 300)
    plan, again = Plan(lengths, 400, 1, 5), Plan(lengths, 400, 1, 5)
    far = len(plan.epochs[0]) + 3
    assert np.array_equal(again.batch(far), plan.batch(far))
    assert not np.array_equal(plan.batch(0), plan.batch(len(plan.epochs[0])))
    assert plan.steps(2.0) == 2 * len(plan.epochs[0])


def test_processes_share_a_batch():
    plan = Plan(np.full(40, 10), 100, 2, 0)
    (left, step), (right, other) = plan.share(6), plan.share(7)
    assert step == other == 3
    assert sorted([*left, *right]) == sorted(plan.batch(3))


def test_fewer_chunks_than_processes():
    with pytest.raises(UserError, match="1 chunks"):
        Plan(np.array([5]), 100, 2, 0)


@pytest.mark.parametrize("view", ["visibility", "inclusive", "random", "exclusive", None])
def test_a_batch_is_framed_padded_and_masked(view, maker, tokens, vocabulary):
    make = maker(view)
    numbers = np.arange(7)
    batch = make(numbers, 3)
    lengths = make.chunks.lengths[numbers]
    for row, length in enumerate(lengths):
        ids = batch["input_ids"][row].tolist()
        text = tokens.ids[make.chunks.start[row] : make.chunks.stop[row]].tolist()
        assert ids[: length + 2] == [vocabulary.first, *text, vocabulary.last]
        assert set(ids[length + 2 :]) <= {vocabulary.pad}
        assert batch["attention_mask"][row].sum() == length + 2
    labelled = batch["encoder_labels"] != -100
    assert (labelled.any(1)).all() and not (labelled & ~batch["text_mask"]).any()
    assert torch.equal(batch["encoder_labels"][labelled], batch["input_ids"][labelled])
    assert torch.equal(batch["encoder_input_ids"][~labelled], batch["input_ids"][~labelled])
    if view == "visibility":
        assert torch.equal(batch["decoder_labels"] != -100, batch["text_mask"])
    elif view:
        hidden = batch["decoder_labels"] != -100
        assert torch.equal(batch["decoder_input_ids"][~hidden], batch["input_ids"][~hidden])


def test_the_same_numbers_make_the_same_batch(maker):
    one, two, other = maker("visibility")(np.arange(5), 3), maker("visibility")(np.arange(5), 3), maker("visibility")(np.arange(5), 4)
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not torch.equal(one["decoder_visible"], other["decoder_visible"])
