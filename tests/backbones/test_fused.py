"""The chunked computations equal the full ones, in value and in gradient."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from retrolex.backbones import fused

V, H = 61, 12


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(fused, "ROWS", 7)
    monkeypatch.setattr(fused, "COLUMNS", 16)


def leaves(*shapes, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_() for shape in shapes]


def full_max(hidden, mask, weight, bias):
    logits = (hidden @ weight.t() + bias).masked_fill(~mask[..., None], float("-inf"))
    return torch.where(mask.any(1, keepdim=True), logits.amax(1), bias)


@pytest.mark.parametrize("rows", [1, 7, 20])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_cross_entropy_equals_the_full_one(rows, dtype, tolerance):
    tensors = leaves((rows, H), (V, H), (V,), dtype=dtype)
    twins = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    labels = torch.arange(rows) * 3 % V
    loss = fused.linear_cross_entropy(*tensors, labels)
    full = F.cross_entropy(twins[0] @ twins[1].t() + twins[2], labels)
    torch.testing.assert_close(loss, full, rtol=tolerance, atol=tolerance)
    (3 * loss).backward()
    (3 * full).backward()
    for tensor, twin in zip(tensors, twins, strict=True):
        torch.testing.assert_close(tensor.grad, twin.grad, rtol=tolerance, atol=tolerance)


def test_cross_entropy_survives_probabilities_that_underflow():
    hidden, weight, bias = leaves((9, H), (V, H), (V,), dtype=torch.float32)
    labels = torch.arange(9)
    far = hidden.detach() * 300
    full = F.cross_entropy(far @ weight.t() + bias, labels)
    assert full > 100
    torch.testing.assert_close(fused.linear_cross_entropy(far, weight, bias, labels), full)


def test_cross_entropy_without_labels_is_zero_and_has_a_gradient():
    hidden, weight, bias = leaves((0, H), (V, H), (V,))
    loss = fused.linear_cross_entropy(hidden, weight, bias, torch.zeros(0, dtype=torch.long))
    loss.backward()
    assert loss.item() == 0.0


def test_cross_entropy_computes_no_gradient_where_none_is_wanted():
    tensors = leaves((5, H), (V, H), (V,))
    with torch.no_grad():
        assert not fused.linear_cross_entropy(*tensors, torch.arange(5)).requires_grad


def test_cross_entropy_under_autocast_is_close():
    tensors = leaves((20, H), (V, H), (V,), dtype=torch.float32)
    twins = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    labels = torch.arange(20)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = fused.linear_cross_entropy(*tensors, labels)
    full = F.cross_entropy(twins[0] @ twins[1].t() + twins[2], labels)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, full, rtol=0.02, atol=0.02)
    loss.backward()
    full.backward()
    for tensor, twin in zip(tensors, twins, strict=True):
        assert tensor.grad.dtype == torch.float32
        assert (tensor.grad - twin.grad).norm() < 0.03 * twin.grad.norm()


def ragged_mask():
    mask = torch.zeros(5, 9, dtype=torch.bool)
    for row, places in enumerate([(1, 2, 3, 4, 5, 6, 7), (3,), (), (0, 8), (2, 4, 5)]):
        mask[row, list(places)] = True
    return mask


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_max_logits_equal_the_full_ones(relu, dtype, tolerance):
    tensors = leaves((5, 9, H), (V, H), (V,), dtype=dtype)
    twins = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    mask, upstream = ragged_mask(), leaves((5, V), dtype=dtype, seed=1)[0].detach()
    shift = 4.0 if relu else 0.0  # so that most entries fall below zero
    ours = fused.max_logits(tensors[0], mask, tensors[1], tensors[2])
    theirs = full_max(twins[0], mask, twins[1], twins[2])
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)
    for value in (ours, theirs):
        ((torch.relu(value - shift) if relu else value) * upstream).sum().backward()
    for tensor, twin in zip(tensors, twins, strict=True):
        torch.testing.assert_close(tensor.grad, twin.grad, rtol=tolerance, atol=tolerance)


def test_max_logits_without_gradient_are_the_same():
    tensors = leaves((5, 9, H), (V, H), (V,))
    wanted = fused.max_logits(tensors[0], ragged_mask(), tensors[1], tensors[2])
    with torch.no_grad():
        assert torch.equal(fused.max_logits(tensors[0], ragged_mask(), tensors[1], tensors[2]), wanted)


def test_max_logits_pass_gradcheck():
    hidden, weight, bias = leaves((2, 4, 3), (6, 3), (6,))
    mask = torch.tensor([[True, True, False, True], [False, True, True, False]])
    assert torch.autograd.gradcheck(lambda *x: fused.max_logits(x[0], mask, x[1], x[2]), (hidden, weight, bias))


def test_cross_entropy_passes_gradcheck():
    hidden, weight, bias = leaves((5, 3), (6, 3), (6,))
    assert torch.autograd.gradcheck(lambda *x: fused.linear_cross_entropy(*x, torch.tensor([0, 1, 2, 3, 5])), (hidden, weight, bias))


def test_max_logits_under_autocast_are_close():
    tensors = leaves((5, 9, H), (V, H), (V,), dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ours = fused.max_logits(tensors[0], ragged_mask(), tensors[1], tensors[2])
    ours.sum().backward()
    theirs = full_max(tensors[0], ragged_mask(), tensors[1], tensors[2])
    assert ours.dtype == torch.float32
    assert (ours - theirs).norm() < 0.02 * theirs.norm()
    assert all(tensor.grad.dtype == torch.float32 for tensor in tensors)
