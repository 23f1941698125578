"""Keeping a start: the term is its formula, it is nothing where nothing moved, and with it a run stays nearer to where it began."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from retrolex.backbones import Spec, load_backbone
from retrolex.errors import UserError
from retrolex.pretraining import PretrainConfig, pretrain
from retrolex.pretraining.keeping import Keeper, drift

SPEC = Spec(pooling="mean", normalize=True, document_length=42, query_length=16)
CONFIG = PretrainConfig(steps=6, tokens_per_batch=400, learning_rate=3e-3, log_every=1, bf16=False, objective="lexmae")


def spread(start):
    """The tiny model, whose random weights make all texts alike, with louder words; and its tokenizer."""
    backbone, tokenizer = start()
    with torch.no_grad():
        backbone.word_embeddings.weight.mul_(20)
    return backbone, tokenizer


def test_the_term_is_its_formula() -> None:
    generator = torch.Generator().manual_seed(0)
    before, after = (torch.randn(5, 7, generator=generator) for _ in range(2))
    unit, total = sum(float(row @ row) for row in before) / 5, 0.0
    for i in range(5):
        rows = [j for j in range(5) if j != i]
        wanted, found = (torch.softmax(torch.tensor([20 * float(part[i] @ part[j]) / unit for j in rows]), 0) for part in (before, after))
        total += float((wanted * (wanted / found).log()).sum()) / 5
    assert drift(before, after).item() == pytest.approx(total, rel=1e-4)
    assert drift(before, before).item() == pytest.approx(0, abs=1e-6)
    assert drift(before[:2], after[:2]).item() == 0


@pytest.mark.parametrize("representation", ["dense", "lexicon"])
def test_only_the_model_moves_and_not_before_it_has(representation, start, maker) -> None:
    backbone, _ = spread(start)
    keeper = Keeper(backbone, replace(SPEC, representation=representation), 1.0)
    batch = maker("inclusive")(torch.arange(8).numpy(), 0)
    loss = keeper(backbone, batch)
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-5)
    assert all(parameter.grad is None or parameter.grad.abs().max() < 1e-4 for parameter in backbone.parameters())
    with torch.no_grad():
        for parameter in backbone.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)))
    moved = keeper(backbone, batch)
    moved.backward()
    assert moved > 1e-3 and backbone.word_embeddings.weight.grad.abs().max() > 0
    assert all(parameter.grad is None for parameter in keeper.start.parameters())


def test_a_run_stays_nearer_to_its_start(start, tokens, tmp_path, maker) -> None:
    """Twelve steps are enough for the two to part, whatever the starting weights and the kernels' last bits (1.5 to 6 times in trials)."""

    def far(weight: float) -> tuple[float, dict]:
        backbone, tokenizer = spread(start)
        keeper = Keeper(backbone, SPEC, 1.0)
        folder = tmp_path / f"{weight:g}"
        counts = pretrain(backbone, tokenizer, tokens, folder, replace(CONFIG, steps=12, options={"keep_start": weight} if weight else {}), spec=SPEC)
        with torch.no_grad():
            return keeper(load_backbone(folder)[0], maker("inclusive")(torch.arange(16).numpy(), 0)).item(), counts

    (free, plain), (held, kept) = far(0.0), far(30.0)
    assert held < free and "keep" not in plain
    assert kept["loss"] == pytest.approx(kept["encoder"] + kept["decoder"] + 30 * kept["keep"], rel=1e-4)


@pytest.mark.parametrize("value", [-1, "much", True, float("nan")])
def test_a_weight_that_is_none_is_refused(value, start, tokens, tmp_path) -> None:
    with pytest.raises(UserError, match="keep_start"):
        pretrain(*start(), tokens, tmp_path, replace(CONFIG, options={"keep_start": value}), spec=SPEC)
