"""Windows cover every token, overlap, keep words whole, and never grow too long."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tokens.test_chunks import Flat

from retrolex.errors import UserError
from retrolex.tokens import windows

documents = st.lists(st.lists(st.integers(0, 9), max_size=80), min_size=1, max_size=6)


def spans(tokens, length, overlap):
    return [tuple(map(int, row)) for row in zip(*windows(tokens, length, overlap), strict=True)]


@settings(max_examples=150, deadline=None)
@given(documents, st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 20), st.data())
def test_laws(documents, starts, length, data):
    overlap = data.draw(st.integers(0, length - 1))
    tokens = Flat(documents, np.asarray(starts))
    rows = spans(tokens, length, overlap)
    for document in range(len(documents)):
        mine = [(start, stop) for row, start, stop in rows if row == document]
        begin, end = int(tokens.offsets[document]), int(tokens.offsets[document + 1])
        assert mine[0][0] == begin and mine[-1][1] == end
        assert len(mine) > 1 or end - begin <= length
        for (start, stop), (following, further) in pairwise(mine):
            assert start < following <= max(stop - overlap, start + 1) and further > stop
        assert all(0 <= stop - start <= length for start, stop in mine)


def test_by_hand():
    every = np.array([True])
    assert spans(Flat([[1] * 10], every), 4, 1) == [(0, 0, 4), (0, 3, 7), (0, 6, 10)]
    assert spans(Flat([[1] * 9], every), 4, 1) == [(0, 0, 4), (0, 3, 7), (0, 5, 9)]  # the last reaches back
    assert spans(Flat([[], [1, 1], []], every), 4, 1) == [(0, 0, 0), (1, 0, 2), (2, 2, 2)]


def test_words_stay_whole():
    words_of_three = np.array([True, False, False])
    assert spans(Flat([[1] * 18], words_of_three), 8, 2) == [(0, 0, 6), (0, 3, 9), (0, 6, 12), (0, 9, 15), (0, 12, 18)]


def test_every_window_gets_further_than_the_one_before():
    assert spans(Flat([[1] * 5], np.array([False, True])), 3, 1) == [(0, 0, 3), (0, 1, 4), (0, 3, 5)]


def test_a_word_longer_than_a_window_is_cut():
    assert spans(Flat([[1] * 10], np.array([True] + [False] * 9)), 4, 1) == [(0, 0, 4), (0, 3, 7), (0, 6, 10)]


def test_a_document_of_100_000_words():
    rows = spans(Flat([[1] * 100_000], np.array([True])), 126, 32)
    assert len(rows) == 1 + -(-(100_000 - 126) // 94)


@pytest.mark.parametrize(("length", "overlap"), [(0, 0), (4, 4), (4, -1)])
def test_windows_that_do_not_get_on_are_refused(length, overlap):
    with pytest.raises(UserError, match="cannot overlap"):
        windows(Flat([[1]], np.array([True])), length, overlap)
