"""Segments and deletions give what an index built afresh from the live documents gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lexicon_twin import EDGES, as_lists, brute_force, random_rows
from scipy import sparse

from retrolex.errors import UserError
from retrolex.index.lexicon import LexiconIndex, SegmentedLexiconIndex

TERMS = 9


def rows_of(live: dict[str, np.ndarray]) -> sparse.csr_array:
    return sparse.csr_array(np.array(list(live.values())).reshape(-1, TERMS).astype(np.float32))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    steps=st.lists(st.sampled_from(["add", "delete", "merge", "open"]), max_size=8),
    weights=st.sampled_from(["round", "float"]),
)
def test_equals_a_fresh_index(tmp_path_factory, seed, steps, weights):
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("segments") / "i"
    index = SegmentedLexiconIndex.create(folder, weights)
    live: dict[str, np.ndarray] = {}
    serial = 0
    for step in ["add", *steps]:
        if step == "add":
            vectors = random_rows(rng, int(rng.integers(1, 120)), TERMS, levels=rng.choice(EDGES[1:], 3))
            ids = [f"d{serial + row}" for row in range(vectors.shape[0])]
            serial += len(ids)
            index.add(ids, vectors)
            live.update(zip(ids, vectors.toarray(), strict=True))
        elif step == "delete":
            gone = [name for name in live if rng.random() < 0.6]
            index.delete(gone)
            for name in gone:
                del live[name]
        elif step == "merge":
            index.merge()
            assert index.segments <= 1
        else:
            index = SegmentedLexiconIndex.open(folder)
        queries = random_rows(rng, 3, TERMS, levels=np.arange(1, 50))
        assert index.ids == list(live) and len(index) == len(live)
        for k in (1, 5, 1000):
            assert as_lists(index.search(queries, k)) == brute_force(rows_of(live), queries, k, weights)


def test_merging_gives_the_bytes_of_a_fresh_index(tmp_path):
    rng = np.random.default_rng(2)
    vectors = random_rows(rng, 500, TERMS, levels=EDGES[1:])
    ids = [f"d{row}" for row in range(500)]
    index = SegmentedLexiconIndex.create(tmp_path / "segments", "round")
    for start in range(0, 500, 100):
        index.add(ids[start : start + 100], vectors[start : start + 100])
    index.delete(ids[50:450:3])
    index.merge()
    live = [row for row in range(500) if not (50 <= row < 450 and (row - 50) % 3 == 0)]
    LexiconIndex.build(tmp_path / "fresh", [ids[row] for row in live], vectors[live], "round")
    [segment] = (tmp_path / "segments").glob("segment-*")
    assert {path.name: path.read_bytes() for path in segment.iterdir()} == {path.name: path.read_bytes() for path in (tmp_path / "fresh").iterdir()}
    assert {path.name for path in (tmp_path / "segments").iterdir()} == {segment.name, "segments.json"}


def test_an_open_reader_goes_on(tmp_path):
    query = sparse.csr_array([[1.0]])
    writer = SegmentedLexiconIndex.create(tmp_path / "i")
    writer.add(["a", "b"], sparse.csr_array([[1.0], [2.0]]))
    reader = SegmentedLexiconIndex.open(tmp_path / "i")
    writer.delete(["b"])
    writer.add(["c"], sparse.csr_array([[3.0]]))
    writer.merge()
    assert [reader.ids[position] for position in reader.search(query, 5)[0][0]] == ["b", "a"]
    assert [writer.ids[position] for position in writer.search(query, 5)[0][0]] == ["c", "a"]
    with pytest.raises(UserError, match="changed since it was opened"):
        reader.delete(["a"])


def test_what_is_refused(tmp_path):
    index = SegmentedLexiconIndex.create(tmp_path / "i")
    index.add(["a", "b"], sparse.csr_array([[1.0], [2.0]]))
    with pytest.raises(UserError, match="'b' is already in the index"):
        index.add(["c", "b"], sparse.csr_array([[1.0], [2.0]]))
    with pytest.raises(UserError, match="no document 'z' in the index; nothing was deleted"):
        index.delete(["a", "z"])
    assert SegmentedLexiconIndex.open(tmp_path / "i").ids == ["a", "b"]
    with pytest.raises(UserError, match="has the weight -1"):
        index.add(["c"], sparse.csr_array([[-1.0]]))
    assert SegmentedLexiconIndex.open(tmp_path / "i").ids == ["a", "b"]
    with pytest.raises(UserError, match="not empty"):
        SegmentedLexiconIndex.create(tmp_path / "i")
    with pytest.raises(UserError, match=r"segments\.json is missing"):
        SegmentedLexiconIndex.open(tmp_path)
    (tmp_path / "i" / "writing.lock").touch()
    with pytest.raises(UserError, match="another process is changing"):
        index.delete(["a"])
    (tmp_path / "i" / "segments.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="not the state"):
        SegmentedLexiconIndex.open(tmp_path / "i")
