"""A random start: of the sizes asked for, and the same for the same seed."""

from __future__ import annotations

import torch

from retrolex.backbones import load_backbone, save_backbone
from retrolex.backbones.scratch import random_bert


def test_sizes_seed_and_saving(tiny_model_folder, tmp_path):
    _, tokenizer = load_backbone(tiny_model_folder)
    state = torch.get_rng_state()
    backbone, again, other = (random_bert(tokenizer, 1, 64, seed) for seed in (0, 0, 1))
    assert torch.equal(state, torch.get_rng_state())
    assert (backbone.vocabulary_size, backbone.hidden_size, backbone.config.num_attention_heads) == (len(tokenizer), 64, 2)
    assert torch.equal(backbone.vocabulary_weight, again.vocabulary_weight)
    assert not torch.equal(backbone.vocabulary_weight, other.vocabulary_weight)
    save_backbone(backbone, tokenizer, tmp_path)
    loaded, _ = load_backbone(tmp_path)
    assert torch.equal(loaded.vocabulary_weight, backbone.vocabulary_weight)
