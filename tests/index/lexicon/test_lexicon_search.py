"""Every kernel gives what a matrix product and a sort give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lexicon_twin import EDGES, as_lists, brute_force, names, random_rows
from scipy import sparse

from retrolex.errors import UserError
from retrolex.index.base import to_run
from retrolex.index.lexicon import LexiconIndex, native

KERNELS = native.available()
MODES = ("floor", "round", "float")


def check(folder, vectors, queries, weights="floor", ks=(1, 10, 10_000)):
    """Build once, search with every kernel, compare with the twin."""
    LexiconIndex.build(folder, names(vectors.shape[0]), vectors, weights)
    for kernel in KERNELS:
        index = LexiconIndex.open(folder, kernel)
        for k in ks:
            assert as_lists(index.search(queries, k)) == brute_force(vectors, queries, k, weights), (kernel, k)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), documents=st.integers(0, 400), terms=st.integers(1, 30), weights=st.sampled_from(MODES), data=st.data())
def test_equals_brute_force(tmp_path_factory, seed, documents, terms, weights, data):
    rng = np.random.default_rng(seed)
    levels = data.draw(st.sampled_from([np.arange(1, 320), np.array([1]), np.array([0, 100, 200]), EDGES]))
    vectors = random_rows(rng, documents, terms, levels=levels)
    queries = random_rows(rng, 4, terms, levels=np.arange(320))
    check(tmp_path_factory.mktemp("index") / "i", vectors, queries, weights, ks=(1, 7, 64, 1000))


@pytest.mark.parametrize("weights", MODES)
def test_more_than_one_block(tmp_path, weights):
    """70,000 small documents with few distinct scores: ties run across the block boundary."""
    rng = np.random.default_rng(3)
    vectors = random_rows(rng, 70_000, 8, levels=np.array([100, 200, 300, 254, 256]))
    queries = random_rows(rng, 3, 8, levels=np.array([50, 100]))
    check(tmp_path / "i", vectors, queries, weights, ks=(1, 10, 1000))


def test_ties_come_in_document_order(tmp_path):
    vectors = sparse.csr_array(np.ones((1000, 1), np.float32))
    LexiconIndex.build(tmp_path / "i", names(1000), vectors)
    for kernel in KERNELS:
        [(positions, scores)] = LexiconIndex.open(tmp_path / "i", kernel).search(sparse.csr_array([[1.0]]), 300)
        assert positions.tolist() == list(range(300))
        assert set(scores.tolist()) == {10_000}


def test_no_documents_one_document_and_empty_vectors(tmp_path):
    query = sparse.csr_array(np.array([[1.0, 0.5]]))
    check(tmp_path / "none", sparse.csr_array((0, 2), dtype=np.float32), query)
    check(tmp_path / "one", sparse.csr_array(np.array([[0.2, 0.3]])), query)
    check(tmp_path / "empty", sparse.csr_array((5, 2), dtype=np.float32), query)
    check(tmp_path / "silent", sparse.csr_array(np.array([[0.2, 0.3]])), sparse.csr_array((3, 2), dtype=np.float32))
    assert LexiconIndex.open(tmp_path / "one").search(sparse.csr_array((0, 2), dtype=np.float32), 3) == []


def test_terms_that_the_index_does_not_have(tmp_path):
    vectors = sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]))
    check(tmp_path / "i", vectors, sparse.csr_array(np.array([[1.0, 0.0, 1.0, 3.0, 9.0], [0, 0, 0, 1, 0]])))
    check(tmp_path / "i", vectors, sparse.csr_array(np.array([[1.0]])))


def test_impacts_above_eight_bits_are_exact(tmp_path):
    levels = EDGES[EDGES > 0] / 100
    vectors = sparse.csr_array(np.repeat(levels, 20)[:, None].astype(np.float32))
    LexiconIndex.build(tmp_path / "i", names(vectors.shape[0]), vectors, "round")
    for kernel in KERNELS:
        [(_, scores)] = LexiconIndex.open(tmp_path / "i", kernel).search(sparse.csr_array([[0.03]]), 1000)
        assert scores.tolist() == sorted(np.repeat(EDGES[EDGES > 0] * 3, 20).tolist(), reverse=True)


def test_scores_beyond_31_bits_are_refused_not_wrapped(tmp_path):
    vectors = sparse.csr_array(np.full((3, 2), 655.35, np.float32))
    most = (2**31 - 1) // (2 * 65_535) / 100
    for kernel in KERNELS:
        index = LexiconIndex.build(tmp_path / "i", names(3), vectors, "round", kernel)
        [(_, scores)] = index.search(sparse.csr_array([[most, most]]), 1)
        assert scores.tolist() == [16_384 * 2 * 65_535]
        with pytest.raises(UserError, match="could reach"):
            index.search(sparse.csr_array([[most, most + 0.02]]), 1)


def test_duplicate_and_unsorted_entries_are_added(tmp_path):
    """A CSR matrix may hold a cell twice, and cells in any order."""
    vectors = sparse.csr_array((np.array([1.0, 2.0, 0.5]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    index = LexiconIndex.build(tmp_path / "i", ["d"], vectors)
    assert index.search(sparse.csr_array([[0.0, 1.0]]), 1)[0][1].tolist() == [150 * 100]
    assert vectors.nnz == 3, "the caller's matrix is left alone"


def test_threads_change_nothing(tmp_path):
    rng = np.random.default_rng(1)
    vectors = random_rows(rng, 500, 20, levels=np.arange(1, 300))
    queries = random_rows(rng, 100, 20, levels=np.arange(1, 300))
    for kernel in KERNELS:
        index = LexiconIndex.build(tmp_path / "i", names(500), vectors, kernel=kernel)
        assert as_lists(index.search(queries, 20, threads=4)) == as_lists(index.search(queries, 20))


def test_wrong_arguments(tmp_path, monkeypatch):
    index = LexiconIndex.build(tmp_path / "i", ["d"], sparse.csr_array([[1.0]]))
    for k, threads in ((0, 1), (1, 0)):
        with pytest.raises(UserError, match="at least 1"):
            index.search(sparse.csr_array([[1.0]]), k, threads)
    with pytest.raises(UserError, match=r"query 1 has the weight -1"):
        index.search(sparse.csr_array([[1.0], [-1.0]]), 1)
    with pytest.raises(UserError, match="no kernel 'sse'"):
        LexiconIndex.open(tmp_path / "i", "sse")
    monkeypatch.setenv(native.KERNEL_VARIABLE, "numpy")
    assert LexiconIndex.open(tmp_path / "i").kernel == "numpy"


def test_without_a_compiled_kernel(tmp_path, monkeypatch, capsys):
    """No compiler at installation: the same answers, and one line that says what to install."""
    monkeypatch.setattr(native, "__file__", str(tmp_path / "native.py"))
    native.library.cache_clear()
    native.available.cache_clear()
    try:
        index = LexiconIndex.build(tmp_path / "i", ["a", "b"], sparse.csr_array([[1.0], [2.0]]))
        assert index.kernel == "numpy"
        assert LexiconIndex.open(tmp_path / "i").search(sparse.csr_array([[1.0]]), 1)[0][0].tolist() == [1]
        assert capsys.readouterr().err.count("install a C++ compiler") == 1
    finally:
        native.library.cache_clear()
        native.available.cache_clear()


def test_run(tmp_path):
    index = LexiconIndex.build(tmp_path / "i", ["a", "b"], sparse.csr_array([[1.0], [2.0]]))
    run = to_run(["q"], index.search(sparse.csr_array([[1.0]]), 10), index.ids)
    assert run == {"q": [("b", 20_000.0), ("a", 10_000.0)]}
