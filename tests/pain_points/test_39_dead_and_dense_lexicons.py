"""Pain 39: a lexicon model trains to vectors with all terms, or none, and the loss does not show it. Here both are said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.finetuning.training_pieces import NEGATIVES, PAIRS, SPECS, TEXTS

from retrolex.backbones import load_backbone
from retrolex.finetuning.options import FinetuneOptions
from retrolex.finetuning.train import finetune
from retrolex.pretraining.watch import warnings

OPTIONS = FinetuneOptions(steps=2, queries=4, hard=1, ramp=0, warmup=0, bf16=False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (replace(OPTIONS, flops=0.0), "raise flops"),  # the random weights of the start give half of all terms
        (replace(OPTIONS, flops=1e6, steps=50, learning_rate=3e-2), "lower flops"),
    ],
)
def test_fine_tuning_says_so(tiny_model_folder, tmp_path, capsys, options, said):
    backbone, tokenizer = load_backbone(tiny_model_folder)
    finetune(backbone, tokenizer, SPECS["lexicon"], PAIRS, NEGATIVES, TEXTS.__getitem__, tmp_path, options)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("density", "said"), [(0.0, "empty"), (0.5, "50% of the vocabulary")])
def test_pre_training_says_so(density, said):
    row = {"step": 10, "held_out": {"loss": 3.0}, "cosine": 0.3, "density": density}
    assert said in " ".join(warnings(row, "lexicon", row))
    assert not warnings(row | {"density": 0.01}, "lexicon", row)
