"""What is written: the same bytes for the same input, all or nothing, and nothing that can't be kept exactly."""

from __future__ import annotations

import numpy as np
import pytest
from lexicon_twin import as_lists, brute_force, names, random_rows
from scipy import sparse

from retrolex.errors import UserError
from retrolex.index.lexicon import LexiconIndex, build


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("weights", ["floor", "round", "float"])
def test_shards_of_any_size_give_the_same_bytes(tmp_path, monkeypatch, weights):
    rng = np.random.default_rng(0)
    vectors = random_rows(rng, 1000, 12, levels=np.arange(300))
    LexiconIndex.build(tmp_path / "whole", names(1000), vectors, weights)
    for size in (1, 7, 64, 1000):
        shards = (vectors[start : start + size] for start in range(0, 1000, size))  # a generator: read once
        LexiconIndex.build(tmp_path / "sharded", names(1000), shards, weights)
        assert contents(tmp_path / "whole") == contents(tmp_path / "sharded")


def test_blocks_cut_and_join_shards(monkeypatch):
    monkeypatch.setattr(build, "BLOCK", 10)
    rows = sparse.csr_array(np.arange(1, 36, dtype=np.float32)[:, None])
    for sizes in ([35], [3, 0, 25, 7], [10, 10, 15], [1] * 35):
        ends = np.cumsum(sizes)
        shards = [rows[end - size : end] for size, end in zip(sizes, ends, strict=True)]
        cut = list(build.blocks(shards))
        assert [block.shape[0] for block in cut] == [10, 10, 10, 5]
        assert sparse.vstack(cut).toarray().tolist() == rows.toarray().tolist()


def test_ids_of_every_kind_survive(tmp_path):
    ids = ["", " ", "a b", "tab\there", "line\nbreak", "crlf\r\n", '"quoted"', "日本語", "\U0001f600", "\ud800", "\u2028", "null", "0"]
    vectors = sparse.csr_array(np.ones((len(ids), 1), np.float32))
    LexiconIndex.build(tmp_path / "i", ids, vectors)
    assert LexiconIndex.open(tmp_path / "i").ids == ids


def test_an_index_replaces_an_index_but_nothing_else(tmp_path):
    one, two = sparse.csr_array([[1.0]]), sparse.csr_array([[1.0], [2.0]])
    index = LexiconIndex.build(tmp_path / "i", ["before"], one)
    LexiconIndex.build(tmp_path / "i", ["a", "b"], two)
    assert len(index) == 1 and len(LexiconIndex.open(tmp_path / "i")) == 2
    assert index.ids == ["before"]
    assert as_lists(index.search(one, 5)) == brute_force(one, one, 5), "an open index goes on with what it opened"
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(UserError, match="not overwritten"):
        LexiconIndex.build(tmp_path / "thesis", ["a"], one)
    assert (tmp_path / "thesis" / "chapter1.txt").exists()


@pytest.mark.parametrize(
    ("ids", "rows", "message"),
    [
        (["a"], [[1.0], [1.0]], "more vectors than the 1 document ids"),
        (["a", "b"], [[1.0]], "1 vectors for 2 document ids"),
        (["a", "a"], [[1.0], [1.0]], "'a' comes twice, the second time at position 1"),
        (["a", 7], [[1.0], [1.0]], "document id 7 at position 1 is a int"),
        (["a", "b"], [[1.0], [-0.5]], "term 0 of document 'b' has the weight -0.5"),
        (["a", "b"], [[1.0], [np.nan]], "term 0 of document 'b' has the weight nan"),
        (["a", "b"], [[1.0], [np.inf]], "term 0 of document 'b' has the weight inf"),
        (["a", "b"], [[1.0], [655.37]], "term 0 of document 'b' has the weight 655.37"),
    ],
)
def test_what_is_refused(tmp_path, ids, rows, message):
    with pytest.raises(UserError) as error:
        LexiconIndex.build(tmp_path / "i", ids, sparse.csr_array(rows))
    assert message in str(error.value)
    assert list(tmp_path.iterdir()) == [], "nothing half-written stays"
    with pytest.raises(UserError, match="no weights 'ceil'"):
        LexiconIndex.build(tmp_path / "i", ["a"], sparse.csr_array([[1.0]]), "ceil")


def test_shards_of_different_widths_are_refused(tmp_path):
    with pytest.raises(UserError, match="shard 1 has 2 terms"):
        LexiconIndex.build(tmp_path / "i", ["a", "b"], [sparse.csr_array([[1.0]]), sparse.csr_array([[1.0, 2.0]])])


def test_float_weights_may_be_any_finite_number(tmp_path):
    index = LexiconIndex.build(tmp_path / "i", ["a"], sparse.csr_array([[1e20]]), "float")
    assert index.search(sparse.csr_array([[0.5]]), 1)[0][1].tolist() == [float(np.float32(1e20)) * 0.5]
