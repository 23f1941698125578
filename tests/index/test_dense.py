"""The dense index against its slow twin: all inner products, sorted."""

from __future__ import annotations

import numpy as np
import pytest

from retrolex.errors import UserError
from retrolex.index.dense import DenseIndex


def slow(vectors: np.ndarray, query: np.ndarray, k: int) -> list[int]:
    scores = vectors @ query
    return sorted(range(len(vectors)), key=lambda i: (-scores[i], i))[:k]


def test_it_finds_what_all_inner_products_say(tmp_path):
    rng = np.random.default_rng(0)
    vectors, queries = rng.integers(-3, 4, (300, 8)).astype(np.float32), rng.integers(-3, 4, (20, 8)).astype(np.float32)
    vectors[50:60] = vectors[40:50]  # ties, by document order; whole numbers, so that sums are exact
    DenseIndex.build(tmp_path, [f"d {i}" for i in range(300)], [vectors[:100], vectors[100:]])
    index = DenseIndex.open(tmp_path)
    for query, (positions, scores) in zip(queries, index.search(queries, 10), strict=True):
        assert positions.tolist() == slow(vectors, query, 10)
        np.testing.assert_array_equal(scores, vectors[positions] @ query)
    assert index.ids[7] == "d 7"
    assert index.bytes > vectors.nbytes


def test_more_hits_than_documents_are_all_of_them(tmp_path):
    index = DenseIndex.build(tmp_path, ["a", "b"], [np.eye(2, dtype=np.float32)])
    (positions, _) = index.search(np.ones((1, 2), np.float32), 10)[0]
    assert positions.tolist() == [0, 1]


def test_absent_and_damaged_indexes_are_refused(tmp_path):
    with pytest.raises(UserError, match="no dense index here"):
        DenseIndex.open(tmp_path)
    DenseIndex.build(tmp_path, ["a", "b"], [np.eye(2, dtype=np.float32)])
    file = tmp_path / "dense.faiss"
    file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(UserError, match="damaged"):
        DenseIndex.open(tmp_path)
