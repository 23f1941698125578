"""A BM25 index that changes gives what one built afresh gives."""

from __future__ import annotations

import pytest

from retrolex.errors import UserError
from retrolex.index.bm25 import BM25Index, SegmentedBM25Index

TEXTS = ["the wing of a plane", "planes and wings and C", "boundary layer flow", "flow past a wing", "vitamin c", "layer upon layer"]
IDS = [f"d{i}" for i in range(len(TEXTS))]


def test_changes_give_what_a_fresh_index_gives(tmp_path):
    index = SegmentedBM25Index.create(tmp_path / "i", "english")
    assert index.search(["wing"], 3)[0][0].tolist() == []
    index.add(IDS[:2], TEXTS[:2])
    reader = SegmentedBM25Index.open(tmp_path / "i")
    index.add(IDS[2:], TEXTS[2:])
    index.delete(["d1", "d3"])
    live = [0, 2, 4, 5]
    fresh = BM25Index.build(tmp_path / "fresh", [IDS[i] for i in live], [TEXTS[i] for i in live])
    queries = ["wing plane", "layer", "c"]
    assert index.run(queries, queries, 10) == fresh.run(queries, queries, 10)
    assert SegmentedBM25Index.open(tmp_path / "i").run(queries, queries, 10) == fresh.run(queries, queries, 10)
    assert reader.ids == IDS[:2]  # one that was open goes on


def test_what_is_refused(tmp_path):
    with pytest.raises(UserError, match="language"):
        SegmentedBM25Index.create(tmp_path / "x", "klingon")
    index = SegmentedBM25Index.create(tmp_path / "i", "english")
    index.add(["a"], ["one wing"])
    with pytest.raises(UserError, match="already in the index"):
        index.add(["a"], ["again"])
    with pytest.raises(UserError, match="nothing was deleted"):
        index.delete(["a", "z"])
    index.delete(["a"])
    assert SegmentedBM25Index.open(tmp_path / "i").ids == []
