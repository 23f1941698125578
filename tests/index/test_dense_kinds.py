"""Approximate dense indexes: nearly what the exact one finds, and they say how nearly."""

from __future__ import annotations

import json

import numpy as np
import pytest

from retrolex.errors import UserError
from retrolex.index.dense import DenseIndex, SegmentedDenseIndex


def vectors(count: int, width: int = 32) -> np.ndarray:
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((40, width))
    rows = centres[rng.integers(40, size=count)] + 0.7 * rng.standard_normal((count, width))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("kind", ["pq", "ivfpq", "hnsw", "sq8"])
def test_recall_is_measured_said_and_kept(tmp_path, capsys, kind):
    rows = vectors(3000)
    ids = [str(i) for i in range(len(rows))]
    DenseIndex.build(tmp_path / "i", ids, [rows[:1000], rows[1000:]], kind)
    index = DenseIndex.open(tmp_path / "i")
    assert index.recall == json.loads((tmp_path / "i" / "dense.json").read_text(encoding="utf-8"))["recall"]
    assert f"recall@10 {index.recall:.3f} against exact" in capsys.readouterr().err
    assert index.measure_recall(rows) == index.recall > 0.85
    positions, scores = index.search(rows[:1], 5)[0]
    assert positions[0] == 0 and (np.diff(scores) <= 0).all()


def test_exact_kinds_state_no_recall(tmp_path):
    assert DenseIndex.build(tmp_path, ["a"], [np.ones((1, 4), np.float32)]).recall is None


def test_what_is_refused(tmp_path):
    with pytest.raises(UserError, match="choose one of: flat, pq"):
        DenseIndex.build(tmp_path, ["a"], [np.ones((1, 4), np.float32)], "annoy")
    with pytest.raises(UserError, match="too few"):
        DenseIndex.build(tmp_path, ["a"], [np.ones((1, 4), np.float32)], "pq")


def test_segments_give_what_a_fresh_index_gives(tmp_path):
    rows = np.random.default_rng(0).integers(-3, 4, (120, 8)).astype(np.float32)
    ids = [f"d{i}" for i in range(120)]
    index = SegmentedDenseIndex.create(tmp_path / "i", "flat")
    index.add(ids[:50], [rows[:50]])
    index.add(ids[50:], [rows[50:]])
    index.delete(ids[10:90:2])
    live = [i for i in range(120) if not (10 <= i < 90 and i % 2 == 0)]
    fresh = DenseIndex.build(tmp_path / "fresh", [ids[i] for i in live], [rows[live]])
    for step in range(2):
        reader = SegmentedDenseIndex.open(tmp_path / "i")
        assert reader.segments == 2 - step and reader.ids == fresh.ids
        for k in (1, 7, 500):
            assert reader.run(["a", "b"], rows[:2], k) == fresh.run(["a", "b"], rows[:2], k)
        index.merge()
    index.save(tmp_path / "copy")
    assert SegmentedDenseIndex.open(tmp_path / "copy").ids == fresh.ids
    with pytest.raises(UserError, match="is there already"):
        index.save(tmp_path / "copy")
