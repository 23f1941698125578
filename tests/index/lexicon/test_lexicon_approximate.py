"""Approximate search: exact scores for what it finds, and a recall that is measured."""

from __future__ import annotations

import json

import numpy as np
import pytest
from lexicon_twin import names, random_rows
from scipy import sparse

from retrolex.errors import UserError
from retrolex.index.lexicon import LexiconIndex
from retrolex.index.lexicon.approximate import ApproximateLexiconIndex, strongest


def long_rows(rng: np.random.Generator, rows: int, terms: int, size: int) -> sparse.csr_array:
    columns = np.concatenate([rng.choice(terms, size, replace=False) for _ in range(rows)])
    return sparse.csr_array((rng.integers(1, 300, rows * size) / np.float32(100), columns, np.arange(rows + 1) * size), shape=(rows, terms))


def test_scores_are_exact_and_recall_is_said(tmp_path, capsys):
    rng = np.random.default_rng(0)
    exact = LexiconIndex.build(tmp_path / "exact", names(1500), long_rows(rng, 1500, 400, 70), "round")
    index = ApproximateLexiconIndex.build(tmp_path / "approximate", exact)
    assert f"recall@10 {index.measured:.3f} against exact" in capsys.readouterr().err
    assert json.loads((tmp_path / "approximate" / "approximate.json").read_text(encoding="utf-8"))["recall"] == index.measured > 0.8
    queries = long_rows(rng, 20, 400, 25)
    truth = [dict(zip(*map(np.ndarray.tolist, hits), strict=True)) for hits in exact.search(queries, 1500)]
    for scores, (positions, found) in zip(truth, index.search(queries, 10), strict=True):
        assert [scores[position] for position in positions.tolist()] == found.tolist() == sorted(found.tolist(), reverse=True)
    assert 0.5 < index.recall(queries) <= 1


def test_with_short_documents_nothing_is_missed(tmp_path):
    rng = np.random.default_rng(1)
    exact = LexiconIndex.build(tmp_path / "exact", names(150), random_rows(rng, 150, 10, levels=np.arange(1, 300)))
    index = ApproximateLexiconIndex.build(tmp_path / "approximate", exact)
    queries = random_rows(rng, 10, 10, levels=np.arange(1, 100))
    assert index.recall(queries, 20) == 1.0
    for one, other in zip(exact.search(queries, 20), index.search(queries, 20), strict=True):
        assert one[0].tolist() == other[0].tolist() and one[1].tolist() == other[1].tolist()
    with pytest.raises(UserError, match="up to 100 hits"):
        index.search(queries, 101)


def test_kernel_and_numpy_score_alike(tmp_path):
    rng = np.random.default_rng(2)
    exact = LexiconIndex.build(tmp_path / "exact", names(400), random_rows(rng, 400, 90, levels=np.arange(1, 3_000)), "round")
    index = ApproximateLexiconIndex.build(tmp_path / "approximate", exact)
    plain = ApproximateLexiconIndex.open(tmp_path / "approximate", LexiconIndex.open(tmp_path / "exact", "numpy"))
    queries = random_rows(rng, 10, 90, levels=np.arange(1, 300))
    for one, other in zip(index.search(queries, 20), plain.search(queries, 20), strict=True):
        assert one[0].tolist() == other[0].tolist() and one[1].tolist() == other[1].tolist()
    assert index.search(queries[:0], 20) == []


def test_an_altered_forward_index_is_refused(tmp_path):
    rng = np.random.default_rng(3)
    exact = LexiconIndex.build(tmp_path / "exact", names(50), random_rows(rng, 50, 20, levels=np.arange(1, 300)))
    folder = tmp_path / "approximate"
    ApproximateLexiconIndex.build(folder, exact)
    pointers = np.load(folder / "pointers.npy")
    for altered in (pointers[:-1], pointers + 1, pointers[::-1].copy(), pointers.astype("<i4")):
        np.save(folder / "pointers.npy", altered)
        with pytest.raises(UserError, match="damaged"):
            ApproximateLexiconIndex.open(folder, exact)


def test_strongest():
    rows = sparse.csr_array(np.array([[3, 1, 3, 2], [0, 0, 0, 5]]))
    assert strongest(rows, 2).toarray().tolist() == [[3, 0, 3, 0], [0, 0, 0, 5]]
