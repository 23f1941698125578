"""Rows of a run's retriever, and what is refused."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrolex.collection import Collection
from retrolex.encoding.shards import read_shards
from retrolex.errors import UserError
from retrolex.export.form import has_dot, renamed
from retrolex.export.source import Source
from retrolex.export.vectors import open_vectors, scaled


def test_rows_are_the_collection_with_the_impacts_of_its_vectors(lexicon: Source) -> None:
    vectors, collection = open_vectors(lexicon), Collection.open(lexicon.run / "collection")
    rows = list(vectors.rows())
    assert [row[:4] for row in rows] == [(at, *document) for at, document in enumerate(collection)]
    encoded = np.concatenate([shard.toarray() for shard in read_shards(lexicon.index.parent / "vectors")])
    for row, weights in zip(rows, np.floor(np.float32(100) * encoded), strict=True):
        assert row.vector == {column: int(weights[column]) for column in np.flatnonzero(weights).tolist()}
    assert vectors.largest() == np.floor(np.float32(100) * encoded).max()


def test_dense_rows_are_the_vectors(dense: Source) -> None:
    vectors = open_vectors(dense)
    encoded = np.concatenate(list(read_shards(dense.index.parent / "vectors")))
    np.testing.assert_array_equal(np.array([row.vector for row in vectors.rows()], np.float32), encoded)


def test_terms_are_surface_forms(lexicon: Source) -> None:
    form = open_vectors(lexicon).form
    assert len(form.terms) == len(set(form.terms)) == form.width
    assert any(term.startswith("##") for term in form.terms)


def test_a_model_without_a_run_has_no_documents(lexicon: Source) -> None:
    with pytest.raises(UserError, match="wants documents"):
        open_vectors(replace(lexicon, run=None, index=None))


def test_an_index_of_other_documents_is_refused(lexicon: Source, tmp_path: Path) -> None:
    from retrolex.index.lexicon import LexiconIndex

    index = tmp_path / "index"
    shutil.copytree(lexicon.index, index)
    shards = list(read_shards(lexicon.index.parent / "vectors"))
    LexiconIndex.build(index / "lexicon", [f"other {number}" for number in range(300)], shards)
    with pytest.raises(UserError, match="differ from number 1 on"):
        open_vectors(replace(lexicon, index=index))


def test_two_part_and_passage_indexes_are_refused(lexicon: Source, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no engine takes"):
        open_vectors(replace(lexicon, spec=replace(lexicon.spec, representation="dupmae")))
    shutil.copytree(lexicon.index, tmp_path / "index")
    (tmp_path / "index" / "passages").mkdir()
    with pytest.raises(UserError, match="passages"):
        open_vectors(replace(lexicon, index=tmp_path / "index"))


def test_weights_are_made_smaller_only_where_they_have_to_be(lexicon: Source) -> None:
    vectors = open_vectors(lexicon)
    largest = vectors.largest()
    assert vectors.multiplier() == vectors.multiplier(largest) == 1
    assert vectors.multiplier(largest / 2) == 0.5
    assert open_vectors(lexicon).form.integer
    assert replace(vectors, form=replace(vectors.form, weights="float")).multiplier() == 100


@given(st.dictionaries(st.integers(0, 99), st.floats(0, 1000), max_size=20), st.sampled_from([1.0, 0.5, 100.0]))
def test_scaled_weights_are_integers_above_zero(vector: dict[int, float], multiplier: float) -> None:
    for column, weight in scaled(vector, multiplier).items():
        assert isinstance(weight, int)
        assert multiplier == 1 or (weight > 0 and abs(weight - vector[column] * multiplier) <= 0.5)


@given(st.lists(st.one_of(st.sampled_from([".", "a.b", "[0]", "[1]", "[[0]]", "", "_"]), st.text(max_size=3)), max_size=12, unique=True))
def test_no_two_terms_get_one_name(terms: list[str]) -> None:
    names = renamed(terms, has_dot)
    assert len(set(names)) == len(names)
    assert not any(map(has_dot, names))
    assert all(name == term for name, term in zip(names, terms, strict=True) if term and "." not in term)
