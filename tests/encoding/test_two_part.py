"""DupMAE's two-part vectors: one row's inner product is the sum of the paper's equation 12, in training and encoding alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from retrolex.backbones import Spec, load_backbone, save_backbone, write_spec
from retrolex.backbones.two_part import joined, new_projection, read_projection, save_projection
from retrolex.encoding import encoder, two_part
from retrolex.encoding.two_part import TwoPartEncoder, open_encoder
from retrolex.errors import UserError
from retrolex.finetuning import retriever
from retrolex.finetuning.interpolate import interpolate
from retrolex.finetuning.options import FinetuneOptions
from retrolex.finetuning.retriever import Retriever

SPEC = Spec("dupmae", "cls", False, 32, 16)
TEXTS = ["the wing of an aircraft carries the load", "bread rises when yeast turns sugar into gas", "a hash table", ""]
K = 10


@pytest.fixture
def folder(tiny_model_folder: Path, tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr(encoder, "bf16_pays", lambda: False)
    for module in (two_part, retriever):
        monkeypatch.setattr(module, "TERMS", K)
    backbone, tokenizer = load_backbone(tiny_model_folder)
    save_backbone(backbone, tokenizer, tmp_path)
    projection = new_projection(backbone.hidden_size, 0)
    with torch.no_grad():
        projection.weight.add_(0.1 * torch.randn(projection.weight.shape, generator=torch.Generator().manual_seed(1)))
    save_projection(projection, tmp_path)
    write_spec(tmp_path, SPEC)
    return tmp_path


def slowly(folder: Path, text: str, length: int, terms: int | None) -> tuple[np.ndarray, dict[int, float]]:
    """Both parts of one text, from the model's own logits."""
    backbone, tokenizer = load_backbone(folder)
    ids = tokenizer(text, truncation=True, max_length=length, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        hidden = backbone.hidden(ids, torch.ones_like(ids))[0]
        logits = backbone.model(input_ids=ids).logits[0]
        sentence = read_projection(folder).weight @ hidden[0]
    inside = [i for i, token in enumerate(ids[0].tolist()) if token not in tokenizer.all_special_ids]
    weights = torch.log1p(torch.relu(logits[inside].amax(0))).tolist() if inside else [0.0] * logits.shape[1]
    best = sorted(range(len(weights)), key=lambda i: -weights[i])[:terms]
    return sentence.numpy(), {i: weights[i] for i in best}


def test_the_score_is_the_sum_of_both_parts(folder: Path) -> None:
    model = open_encoder(folder, "dupmae")
    documents, queries = model.encode(TEXTS), model.encode(TEXTS[:2], "query")
    assert isinstance(model, TwoPartEncoder) and documents.shape == (4, model.width)
    scores = (queries @ documents.T).toarray()
    for i, query in enumerate(TEXTS[:2]):
        sentence, all_terms = slowly(folder, query, 16, None)
        for j, text in enumerate(TEXTS):
            other, terms = slowly(folder, text, 32, K)
            assert scores[i, j] == pytest.approx(sentence @ other + sum(all_terms[t] * weight for t, weight in terms.items()), rel=1e-4, abs=1e-4)


def test_training_sees_the_same_vectors(folder: Path) -> None:
    backbone, tokenizer = load_backbone(folder)
    special = set(tokenizer.all_special_ids) - {tokenizer.mask_token_id}
    model = Retriever(backbone, SPEC, special, FinetuneOptions(), read_projection(folder)).eval()
    encoded = TwoPartEncoder(folder)
    for kind, length in (("query", 16), ("document", 32)):
        tokens = tokenizer(TEXTS, truncation=True, max_length=length, padding=True, return_tensors="pt")
        with torch.no_grad():
            trained = model.encode([{"input_ids": tokens["input_ids"], "attention_mask": tokens["attention_mask"]}], kind)
        np.testing.assert_allclose(trained.numpy(), encoded.encode(TEXTS, kind).toarray(), atol=1e-5)


def test_what_is_not_kept_gets_no_gradient() -> None:
    weights = torch.tensor([[3.0, 1.0, 2.0, 0.5]], requires_grad=True)
    vectors = joined(torch.ones(1, 2), weights, 2)
    assert vectors.tolist() == [[1, 1, 3, 0, 2, 0]]
    vectors.sum().backward()
    assert weights.grad.tolist() == [[1, 0, 1, 0]]


def test_a_wide_model_is_projected_orthogonally() -> None:
    weight = new_projection(768, 3).weight
    assert weight.shape == (384, 768)
    torch.testing.assert_close(weight @ weight.T, torch.eye(384), atol=1e-5, rtol=0)
    assert torch.equal(new_projection(768, 3).weight, weight)


def test_an_average_of_two_models_keeps_the_projection(folder: Path, tiny_model_folder: Path, tmp_path: Path) -> None:
    interpolate(tiny_model_folder, folder, 0.5, tmp_path / "between")
    assert torch.equal(read_projection(tmp_path / "between").weight, read_projection(folder).weight)


def test_no_projection(tiny_model_folder: Path) -> None:
    with pytest.raises(UserError, match="no projection"):
        TwoPartEncoder(tiny_model_folder, spec=replace(SPEC))


def test_an_encoder_of_other_vectors_is_refused(folder, tiny_model_folder):
    with pytest.raises(UserError, match="open_encoder"):
        encoder.Encoder(folder)
    with pytest.raises(UserError, match="open_encoder"):
        encoder.Encoder(folder, "sparse")
