"""Documents by their passages: by hand, and as brute force over all passages says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from retrolex.errors import UserError
from retrolex.index.dense import DenseIndex
from retrolex.index.lexicon import LexiconIndex
from retrolex.index.passages import PASSAGES, PassageIndex, describe_passages
from retrolex.tokens.passages import Passages

SCORES = ["best", "first", "top3"]


class Scored:
    """An index whose scores are given: [queries, passages]; as a lexicon index, it leaves out what scores 0."""

    bytes = 10

    def __init__(self, scores, positive=False):
        self.scores, self.positive, self.depths = scores, positive, []

    def __len__(self):
        return self.scores.shape[1]

    def search(self, queries, k, threads=1):
        self.depths.append(k)
        hits = []
        for row in np.asarray(queries)[:, 0]:
            order = np.lexsort((np.arange(len(self)), -self.scores[row]))
            order = order[self.scores[row][order] > 0] if self.positive else order
            hits.append((order[:k], self.scores[row][order[:k]]))
        return hits


def passages_of(sizes) -> Passages:
    document = np.repeat(np.arange(len(sizes)), sizes)
    start = np.concatenate([10 * np.arange(size) for size in sizes])
    return Passages(document, start, start + 10, len(sizes))


def brute_force(scores, sizes, how, k, positive):
    """Documents and scores, every passage looked at."""
    rows = []
    for document, values in enumerate(np.split(scores, np.cumsum(sizes)[:-1])):
        total = {"best": values.max(), "first": values[0], "top3": np.sort(values)[::-1][:3].sum()}[how]
        rows.append((-total, document))
    return [(document, -value) for value, document in sorted(rows) if not positive or value < 0][:k]


def queries(count):
    return np.arange(count)[:, None]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.sampled_from(SCORES), st.booleans(), st.integers(1, 15), st.integers(0, 10**6))
def test_what_brute_force_finds(sizes, how, positive, k, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0 if positive else -6, 7, (3, sum(sizes))).astype(np.float32)
    index = PassageIndex(Scored(scores, positive), passages_of(sizes), [f"d{i}" for i in range(len(sizes))], how)
    for row, found in enumerate(index.find(queries(3), k)):
        assert list(zip(found.documents.tolist(), found.scores.tolist(), strict=True)) == brute_force(scores[row], sizes, how, k, positive)
        for document, passage in zip(found.documents, found.passages, strict=True):
            mine = np.flatnonzero(index.owner == document)
            assert passage == (mine[0] if how == "first" else mine[np.argmax(scores[row, mine])])


def test_by_hand():
    scores = np.array([[5.0, 1.0, 4.0, 4.0, 3.0, 4.5]], dtype=np.float32)  # documents: 0 0 | 1 1 1 | 2
    found = {how: PassageIndex(Scored(scores), passages_of([2, 3, 1]), ["a", "b", "c"], how).search(queries(1), 3)[0] for how in SCORES}
    assert [part.tolist() for part in found["best"]] == [[0, 2, 1], [5.0, 4.5, 4.0]]
    assert [part.tolist() for part in found["first"]] == [[0, 2, 1], [5.0, 4.5, 4.0]]
    assert [part.tolist() for part in found["top3"]] == [[1, 0, 2], [11.0, 6.0, 4.5]]


@pytest.mark.parametrize("how", SCORES)
def test_k_documents_though_one_owns_the_top_passages(how):
    scores = np.concatenate([np.linspace(9, 8, 500), np.linspace(7, 6, 20)]).astype(np.float32)[None]
    index = PassageIndex(Scored(scores), passages_of([500, *[1] * 20]), [f"d{i}" for i in range(21)], how)
    assert index.find(queries(1), 10)[0].documents.tolist() == list(range(10))


def test_where_documents_are_short_nothing_is_fetched_in_vain():
    index = PassageIndex(Scored(np.random.default_rng(0).random((4, 50))), passages_of([1] * 50), [str(i) for i in range(50)])
    index.find(queries(4), 7)
    assert index.index.depths == [7]


@pytest.mark.parametrize("how", SCORES)
@pytest.mark.parametrize("kind", ["dense", "lexicon"])
def test_the_real_indexes(kind, how, tmp_path):
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 8, 60)
    passages, ids = passages_of(sizes), [f"d{i}" for i in range(60)]
    if kind == "dense":
        vectors = rng.integers(-3, 4, (sizes.sum(), 8)).astype(np.float32)
        asked, inner = vectors[:9], DenseIndex.build(tmp_path, passages.ids(ids), [vectors])
        scores = asked @ vectors.T
    else:
        weights = rng.integers(0, 9, (sizes.sum(), 40)) * (rng.random((sizes.sum(), 40)) < 0.1)
        vectors = sparse.csr_array((weights / 4).astype(np.float32))  # whole numbers once they are multiplied by 100
        asked, inner = vectors[:9], LexiconIndex.build(tmp_path / "lexicon", passages.ids(ids), vectors)
        scores = 625.0 * weights[:9] @ weights.T
    describe_passages(tmp_path / PASSAGES, passages, ids, how)
    index = PassageIndex.open(tmp_path / PASSAGES, inner)
    assert index.ids == ids and len(index) == 60 and index.bytes > inner.bytes
    for row, (documents, values) in enumerate(index.search(asked, 10)):
        assert list(zip(documents.tolist(), values.tolist(), strict=True)) == brute_force(scores[row], sizes, how, 10, kind == "lexicon")


def test_ids_of_passages_all_differ():
    assert passages_of([2, 1, 12]).ids(["a", "a#0", "b"])[:4] == ["a#0", "a#1", "a#0#0", "b#0"]


def test_a_damaged_map_is_refused(tmp_path):
    index, passages = Scored(np.zeros((1, 3))), passages_of([2, 1])
    with pytest.raises(UserError, match="build it again"):
        PassageIndex.open(tmp_path, index)
    describe_passages(tmp_path, passages, ["a", "b"], "best")
    np.save(tmp_path / "passages.npy", np.zeros((3, 2)))
    with pytest.raises(UserError, match="damaged map"):
        PassageIndex.open(tmp_path, index)
    np.save(tmp_path / "passages.npy", np.array([[0, 0, 1], [2, 0, 1]]))  # document 1 has no passage
    with pytest.raises(UserError, match="damaged map"):
        PassageIndex.open(tmp_path, index)
    passages_of([2, 2]).save(tmp_path)
    with pytest.raises(UserError, match="no passages of this index"):
        PassageIndex.open(tmp_path, index)
