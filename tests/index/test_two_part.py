"""Two-part index: the sum of both inner products over all documents, against a plain product."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from retrolex.errors import UserError
from retrolex.index import two_part
from retrolex.index.two_part import TwoPartIndex

WIDTH, TERMS, DOCUMENTS = 4, 30, 57


@pytest.fixture
def vectors() -> sp.csr_array:
    rng = np.random.default_rng(0)
    rows = rng.integers(-3, 4, (DOCUMENTS, WIDTH + TERMS)).astype(np.float32)  # whole numbers: many equal scores
    rows[:, WIDTH:] = np.maximum(rows[:, WIDTH:] - 1, 0)
    rows[5, WIDTH:] = 0
    return sp.csr_array(rows)


@pytest.fixture
def index(tmp_path: Path, vectors: sp.csr_array) -> TwoPartIndex:
    shards = (vectors[start : start + 20] for start in range(0, DOCUMENTS, 20))
    return TwoPartIndex.build(tmp_path, [f"d{i}" for i in range(DOCUMENTS)], shards, WIDTH)


@pytest.mark.parametrize("k", [1, 7, 100])
def test_search_is_the_plain_product(index: TwoPartIndex, vectors: sp.csr_array, k: int, monkeypatch) -> None:
    monkeypatch.setattr(two_part, "QUERIES", 3)
    rng = np.random.default_rng(1)
    queries = rng.integers(-2, 3, (8, WIDTH + TERMS)).astype(np.float32)
    queries[:, WIDTH:] = np.maximum(queries[:, WIDTH:], 0)
    scores = queries @ vectors.toarray().T
    for found in (index, TwoPartIndex.open(index.folder)):
        for query, (positions, values) in enumerate(found.search(sp.csr_array(queries), k)):
            order = np.lexsort((np.arange(DOCUMENTS), -scores[query]))[:k]
            assert positions.tolist() == order.tolist() and values.tolist() == scores[query][order].tolist()


def test_size_and_ids(index: TwoPartIndex) -> None:
    assert len(index) == DOCUMENTS and index.ids[3] == "d3" and index.bytes > 0
    assert index.search(sp.csr_array((0, WIDTH + TERMS), dtype=np.float32), 3) == []


def test_a_damaged_index_says_so(index: TwoPartIndex) -> None:
    (index.folder / "block-00001.dense.npy").unlink()
    with pytest.raises(UserError, match="no whole two-part index"):
        TwoPartIndex.open(index.folder)
    with pytest.raises(UserError, match="no whole two-part index"):
        TwoPartIndex.open(index.folder / "absent")
    np.save(index.folder / "block-00001.dense.npy", np.zeros((3, WIDTH)))
    with pytest.raises(UserError, match="block 1"):
        TwoPartIndex.open(index.folder)


def test_ids_and_vectors_must_agree(tmp_path: Path, vectors: sp.csr_array) -> None:
    with pytest.raises(ValueError, match="2 ids"):
        TwoPartIndex.build(tmp_path, ["a", "b"], [vectors], WIDTH)
