"""Each loss against its formula written out in loops."""

from __future__ import annotations

import math

import pytest
import torch

from retrolex.finetuning.losses import distillation, flops, group_scores, info_nce, margin_mse


@pytest.fixture
def vectors() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(3, 6, generator=generator), torch.randn(12, 6, generator=generator)


def test_info_nce_is_the_formula(vectors) -> None:
    queries, documents = vectors
    excluded = torch.zeros(3, 12, dtype=torch.bool)
    excluded[0, 4] = excluded[2, 11] = True
    expected = 0.0
    for i in range(3):
        scores = [5.0 * sum(a * b for a, b in zip(queries[i].tolist(), documents[j].tolist(), strict=True)) for j in range(12)]
        total = sum(math.exp(score) for j, score in enumerate(scores) if not excluded[i, j])
        expected += (math.log(total) - scores[4 * i]) / 3
    assert info_nce(queries, documents, scale=5.0, excluded=excluded).item() == pytest.approx(expected, rel=1e-5)


def test_a_document_that_is_excluded_gets_no_gradient(vectors) -> None:
    queries, documents = vectors[0], vectors[1].requires_grad_()
    excluded = torch.zeros(3, 12, dtype=torch.bool)
    excluded[:, 5] = True
    info_nce(queries, documents, excluded=excluded).backward()
    assert documents.grad[5].abs().max() == 0 and documents.grad.isfinite().all()


def test_distillation_is_the_formula(vectors) -> None:
    scores = group_scores(*vectors)
    teacher = torch.randn(3, 4, generator=torch.Generator().manual_seed(2))
    expected = 0.0
    for i in range(3):
        p, q = torch.softmax(teacher[i], 0).tolist(), torch.softmax(scores[i], 0).tolist()
        expected += sum(a * (math.log(a) - math.log(b)) for a, b in zip(p, q, strict=True)) / 3
    assert distillation(scores, teacher).item() == pytest.approx(expected, rel=1e-5)
    assert distillation(teacher, teacher).item() == pytest.approx(0, abs=1e-6)


def test_group_scores_and_margins(vectors) -> None:
    queries, documents = vectors
    scores = group_scores(queries, documents)
    for i in range(3):
        for j in range(4):
            assert scores[i, j].item() == pytest.approx((queries[i] @ documents[4 * i + j]).item(), rel=1e-5)
    teacher = torch.randn(3, 4, generator=torch.Generator().manual_seed(3))
    margins = [((scores[i, 0] - scores[i, j]) - (teacher[i, 0] - teacher[i, j])).item() ** 2 for i in range(3) for j in range(1, 4)]
    assert margin_mse(scores, teacher).item() == pytest.approx(sum(margins) / 9, rel=1e-5)
    assert margin_mse(scores, scores + 7).item() == pytest.approx(0, abs=1e-9)


def test_flops_is_the_formula() -> None:
    weights = torch.tensor([[1.0, 0.0, 2.0], [3.0, 0.0, 0.0]])
    assert flops(weights).item() == pytest.approx(2.0**2 + 1.0**2)
