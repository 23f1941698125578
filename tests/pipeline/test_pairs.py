"""Pseudo-queries that need more than the documents: BM25 for the round trip, a start's own weights for keyphrases."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pipeline.small import small_recipe

from retrolex.artifacts import read_manifest
from retrolex.collection import Collection
from retrolex.errors import UserError
from retrolex.finetuning.pairs import TRAIN, read_pairs
from retrolex.pipeline.recipe import Recipe
from retrolex.pipeline.stages import collect, index_bm25, prepare_pairs, prepare_start


def pairs_of(recipe: Recipe) -> Path:
    collection: Collection = collect(recipe, recipe.folder)
    return prepare_pairs(recipe, recipe.folder, collection, index_bm25(recipe, recipe.folder, collection), None)


def test_the_round_trip_is_made_by_bm25(tmp_path, collection_folder, tiny_model_folder):
    pairs = pairs_of(small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", "pairs.round_trip=5", "pairs.count=30"))
    counts = read_manifest(pairs)["counts"]
    assert counts["found again by bm25"] > 0 and "not found again" in counts


def test_keyphrases_are_chosen_by_the_starts_own_weights(tmp_path, collection_folder, tiny_model_folder):
    recipe = small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", "pairs.shares={keyphrases: 1.0}", "pairs.count=30")
    pairs = pairs_of(recipe)
    assert {pair.kind for pair in read_pairs(pairs / TRAIN)} >= {"keyphrases"}
    assert "weights" in read_manifest(pairs)["inputs"]


def test_keyphrases_need_a_start_with_a_head(tmp_path, collection_folder, tiny_model_folder, monkeypatch):
    def without_head(*arguments) -> Path:
        start = prepare_start(*arguments)
        manifest = start / "manifest.json"
        manifest.write_text(manifest.read_text(encoding="utf-8").replace('"new head": "no"', '"new head": "yes"'), encoding="utf-8")
        return start

    monkeypatch.setattr("retrolex.pipeline.stages.prepare_start", without_head)
    with pytest.raises(UserError, match="no start of this run came with a language-model head"):
        pairs_of(small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", "pairs.shares={keyphrases: 1.0}"))
