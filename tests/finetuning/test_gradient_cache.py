"""Cached losses and gradients equal those of one pass, with dropout too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.finetuning.training_pieces import gradients, pieces

from retrolex.finetuning.gradient_cache import cached_losses
from retrolex.finetuning.options import FinetuneOptions

OPTIONS = FinetuneOptions(queries=4, hard=2, token_budget=40, flops=0.1, loss="distill")


@pytest.mark.parametrize("dropout", [0.0, 0.2])
@pytest.mark.parametrize("name", ["dense", "lexicon", "dupmae"])
def test_cached_equals_plain(tiny_model_folder: Path, name: str, dropout: float) -> None:
    found, ramp = {}, torch.tensor(0.5)
    for chunk in (None, 40):
        model, batches = pieces(tiny_model_folder, name, replace(OPTIONS, chunk=chunk), dropout)
        batch = batches(0)
        assert len(batch["documents"]["parts"]) > 1
        torch.manual_seed(7)
        losses = model([batch], ramp)
        after = torch.rand(1)
        (2 * losses["loss"]).backward()
        found[chunk] = losses, gradients(model), after
    (plain, plain_gradients, state), (cached, cached_gradients, cached_state) = found.values()
    assert plain.keys() == cached.keys() and torch.equal(state, cached_state)
    for part, value in plain.items():
        torch.testing.assert_close(cached[part], value, atol=1e-5, rtol=1e-5)
    assert plain_gradients.keys() == cached_gradients.keys()
    for parameter, value in plain_gradients.items():
        torch.testing.assert_close(cached_gradients[parameter], value, atol=1e-6, rtol=1e-4)


def test_accumulated_flops_are_those_of_all_texts(tiny_model_folder: Path) -> None:
    model, batches = pieces(tiny_model_folder, "lexicon", replace(OPTIONS, queries=2, loss="contrastive", chunk=40))
    step = [batches(0), batches(1)]
    losses = model(step, torch.tensor(1.0))
    with torch.no_grad():
        texts = torch.cat([model.encode(batch["documents"]["parts"], "document")[batch["documents"]["rows"]] for batch in step])
        alone = [model([batch], torch.tensor(1.0)) for batch in step]
    assert losses["document_flops"].item() == pytest.approx(texts.mean(0).square().sum().item(), rel=1e-5)
    assert losses["contrastive"].item() == pytest.approx(sum(part["contrastive"].item() for part in alone) / 2, rel=1e-5)
    assert losses["document_flops"] < sum(part["document_flops"] for part in alone) / 2


def test_no_more_than_one_piece_is_encoded_at_a_time() -> None:
    weight = torch.ones(3, requires_grad=True)
    seen = []

    def encode(piece: torch.Tensor) -> torch.Tensor:
        seen.append((len(piece), torch.is_grad_enabled()))
        return piece * weight

    parts = [torch.full((n, 3), float(n)) for n in (1, 2)]
    cached_losses(encode, parts, lambda rows: {"loss": torch.cat(rows).square().sum()}, [weight])["loss"].backward()
    assert seen == [(1, False), (2, False), (1, True), (2, True)]
    torch.testing.assert_close(weight.grad, torch.full((3,), 2.0 * (1 + 8)))
