"""The fast encoder computes what the ordinary one does, in every family."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers
from torch.nn import functional as F

from retrolex.pretraining.decoders import DecoderLayer
from retrolex.pretraining.fast import attend, make_fast


@pytest.mark.parametrize("kind", ["none", "bool", "float"])
def test_equals_the_fused_kernel(kind):
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(2, 3, 7, 4, generator=generator, requires_grad=True) for _ in range(3)]
    twins = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    visible = torch.rand(2, 1, 7, 7, generator=generator) < 0.6
    visible[..., 0] = True
    mask = {"none": None, "bool": visible, "float": torch.zeros(visible.shape).masked_fill(~visible, float("-inf"))}[kind]
    ours, theirs = attend(*tensors, mask), F.scaled_dot_product_attention(*twins, attn_mask=mask)
    torch.testing.assert_close(ours, theirs)
    ours.square().sum().backward()
    theirs.square().sum().backward()
    for tensor, twin in zip(tensors, twins, strict=True):
        torch.testing.assert_close(tensor.grad, twin.grad, rtol=1e-4, atol=1e-5)


def test_a_row_that_sees_nothing_is_no_nan():
    query = torch.randn(1, 1, 2, 4)
    assert torch.isfinite(attend(query, query, query, torch.zeros(1, 1, 2, 2, dtype=torch.bool))).all()


def test_every_family_computes_the_same_with_it(backbone, maker):
    batch = maker(None)(np.arange(6), 0)
    before = backbone.hidden(batch["input_ids"], batch["attention_mask"])
    make_fast(backbone)
    after = backbone.hidden(batch["input_ids"], batch["attention_mask"])
    chosen = "sdpa" if transformers.__version__.startswith("4.") else "retrolex"  # version 4 has no choice in these families
    assert backbone.model.config._attn_implementation == chosen
    real = batch["attention_mask"].bool()
    torch.testing.assert_close(before[real], after[real], rtol=1e-4, atol=1e-5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        narrow = backbone.hidden(batch["input_ids"], batch["attention_mask"])
    assert narrow.dtype == torch.bfloat16
    assert (narrow[real] - before[real]).norm() < 0.05 * before[real].norm()


def test_a_decoder_layer_at_places_is_the_whole_one_there(backbone):
    torch.manual_seed(0)
    layer = DecoderLayer(backbone.decoder_sizes).eval()
    stream, visible = torch.randn(2, 5, backbone.hidden_size), torch.tensor([[[True] * 5], [[True] * 3 + [False] * 2]])
    places = torch.tensor([1, 2, 6])
    torch.testing.assert_close(layer(stream, stream, visible, places), layer(stream, stream, visible).flatten(0, 1)[places])
