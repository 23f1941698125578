"""Pain 44: prefixes such as "query: " are not stored with the model, or forgotten. Here the model folder has them, and encoding applies them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from retrolex.backbones import read_spec, write_spec
from retrolex.encoding import Encoder


@pytest.fixture
def model(tiny_model_folder, tmp_path) -> Path:
    folder = shutil.copytree(tiny_model_folder, tmp_path / "model")
    write_spec(folder, replace(read_spec(folder), query_prefix="file: ", document_prefix="bread: "))
    return folder


@pytest.mark.parametrize("representation", ["dense", "lexicon"])
def test_encoding_applies_them(model, tiny_model_folder, representation):
    def plain(vectors) -> np.ndarray:
        return vectors if representation == "dense" else vectors.toarray()

    prefixed, bare = Encoder(model, representation), Encoder(tiny_model_folder, representation)
    for kind, prefix in (("query", "file: "), ("document", "bread: ")):
        expected = plain(bare.encode([f"{prefix}the river floods"], kind))
        np.testing.assert_array_equal(plain(prefixed.encode(["the river floods"], kind)), expected)
        assert not np.array_equal(expected, plain(bare.encode(["the river floods"], kind)))


def test_a_folder_of_sentence_transformers_brings_its_own(tiny_model_folder, tmp_path):
    folder = shutil.copytree(tiny_model_folder, tmp_path / "model")
    types = {"": "sentence_transformers.models.Transformer", "1_Pooling": "sentence_transformers.models.Pooling"}
    rows = [{"idx": number, "name": str(number), "path": path, "type": kind} for number, (path, kind) in enumerate(types.items())]
    (folder / "modules.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}), encoding="utf-8")
    for prompts, expected in (
        ({"query": "query: ", "document": "passage: "}, ("query: ", "passage: ")),
        ({"query": "query: ", "passage": "passage: "}, ("query: ", "passage: ")),
        ({}, ("", "")),
    ):
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}), encoding="utf-8")
        spec = read_spec(folder)
        assert (spec.query_prefix, spec.document_prefix) == expected and spec.pooling == "mean"
