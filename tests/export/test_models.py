"""Exported models, loaded in the library that they are for, against our own numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.export.reference import vectors

from retrolex.export.huggingface import export_huggingface
from retrolex.export.sentence_transformers import export_sentence_transformers
from retrolex.export.source import Source


def tokens(folder: Path, texts: list[str], length: int) -> dict[str, np.ndarray]:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(texts, padding=True, truncation=True, max_length=length, return_tensors="np")
    return {name: inputs[name].astype("int64") for name in ("input_ids", "attention_mask")}


def test_sentence_transformers_gives_the_same_numbers(source: Source, texts: list[str], tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer, SparseEncoder

    export_sentence_transformers(source, tmp_path)
    dense = source.spec.representation == "dense"
    model = SentenceTransformer(str(tmp_path)) if dense else SparseEncoder(str(tmp_path))
    found = model.encode_document(texts)
    found = found if dense else found.to_dense().numpy()
    np.testing.assert_allclose(found, vectors(source, texts, specials=True), atol=2e-6)


def test_modules_state_the_class_paths_that_both_versions_know(source: Source, tmp_path: Path) -> None:
    export_sentence_transformers(source, tmp_path)
    types = [module["type"] for module in json.loads((tmp_path / "modules.json").read_text(encoding="utf-8"))]
    if source.spec.representation == "dense":
        assert types == [f"sentence_transformers.models.{name}" for name in ("Transformer", "Pooling", "Normalize")]
    else:
        assert types == [f"sentence_transformers.sparse_encoder.models.{name}" for name in ("MLMTransformer", "SpladePooling")]


def test_retrolex_reads_its_own_exports(source: Source, texts: list[str], tmp_path: Path) -> None:
    from dataclasses import replace

    from retrolex.backbones import read_spec

    export_sentence_transformers(source, tmp_path)
    spec = read_spec(tmp_path)
    assert (spec.representation, spec.document_length) == (source.spec.representation, source.spec.document_length)
    if spec.representation == "lexicon":
        again = replace(source, model=tmp_path)
        np.testing.assert_array_equal(vectors(again, texts), vectors(source, texts))


def test_huggingface_loads_with_its_head(source: Source, tmp_path: Path) -> None:
    from transformers import AutoModelForMaskedLM

    export_huggingface(source, tmp_path)
    model, info = AutoModelForMaskedLM.from_pretrained(tmp_path, output_loading_info=True)
    original = AutoModelForMaskedLM.from_pretrained(source.model)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    for name, tensor in original.state_dict().items():
        assert (model.state_dict()[name] == tensor).all(), name


@pytest.mark.slow
def test_onnx_and_openvino_give_the_same_numbers(source: Source, texts: list[str], tmp_path: Path) -> None:
    pytest.importorskip("onnxscript", reason="needs the extra [onnx]")
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
    openvino = pytest.importorskip("openvino", reason="needs the extra [onnx]")
    from retrolex.export.onnx import export_onnx, export_openvino

    wanted = vectors(source, texts)
    export_onnx(source, tmp_path)
    inputs = tokens(tmp_path, texts, source.spec.document_length)
    (found,) = onnxruntime.InferenceSession(tmp_path / "model.onnx").run(["vectors"], inputs)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    export_openvino(source, tmp_path)
    half = openvino.compile_model(tmp_path / "model.xml")(inputs)["vectors"]
    np.testing.assert_allclose(half, wanted, atol=5e-3)  # its weights have 16 bits
    assert not (tmp_path / "model.onnx").exists()
