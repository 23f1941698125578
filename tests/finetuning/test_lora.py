"""Low-rank adapters: only they are trained, and the model that is written has them in its weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.finetuning.training_pieces import NEGATIVES, PAIRS, SCORES, SPECS, TEXTS

from retrolex.backbones import load_backbone
from retrolex.finetuning.lora import add_adapters, merge_adapters
from retrolex.finetuning.options import FinetuneOptions
from retrolex.finetuning.train import finetune

pytest.importorskip("peft", reason="low-rank adapters need peft")
OPTIONS = FinetuneOptions(steps=3, queries=4, hard=2, learning_rate=1e-2, lora=2, bf16=False)


def test_adapters_change_nothing_at_first_and_merge_into_a_model_of_the_same_form(tiny_model_folder: Path) -> None:
    backbone, _ = load_backbone(tiny_model_folder)
    names, inputs = set(backbone.state_dict()), (torch.arange(5, 13)[None], torch.ones(1, 8, dtype=torch.long))
    before = backbone.hidden(*inputs)
    adapters = add_adapters(backbone, 2, 0)
    trained = [name for name, parameter in backbone.named_parameters() if parameter.requires_grad]
    assert trained and all("lora_" in name for name in trained)
    torch.testing.assert_close(backbone.hidden(*inputs), before)
    with torch.no_grad():
        for name, parameter in backbone.named_parameters():
            if "lora_B" in name:
                parameter.fill_(0.05)
    adapted = backbone.hidden(*inputs)
    merge_adapters(backbone, adapters)
    assert set(backbone.state_dict()) == names and all(parameter.requires_grad for parameter in backbone.parameters())
    torch.testing.assert_close(backbone.hidden(*inputs), adapted, atol=1e-5, rtol=1e-4)
    assert not torch.allclose(adapted, before)


@pytest.mark.parametrize("name", ["dense", "lexicon"])
def test_what_is_written_is_an_ordinary_model(tiny_model_folder: Path, tmp_path: Path, name: str) -> None:
    start, tokenizer = load_backbone(tiny_model_folder)
    before = {key: value.clone() for key, value in start.state_dict().items()}
    finetune(start, tokenizer, SPECS[name], PAIRS, NEGATIVES, TEXTS.__getitem__, tmp_path, OPTIONS, SCORES)
    after = load_backbone(tmp_path)[0].state_dict()
    assert before.keys() == after.keys()
    changed = {key for key in before if not torch.equal(before[key], after[key])}
    assert changed and all("weight" in key and ("attention" in key or "dense" in key) for key in changed)
    assert not any(path.name.startswith("adapter") for path in tmp_path.iterdir())
