"""A start from nothing: a random BERT of a chosen size."""

from __future__ import annotations

from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM

from retrolex.backbones.base import Backbone
from retrolex.backbones.bert import Bert

SCRATCH = "scratch"  # the start's name
HEAD = 32  # width of an attention head
POSITIONS = 512


def random_bert(tokenizer: Any, layers: int, hidden_size: int, seed: int = 42) -> Backbone:
    """A BERT masked LM with random weights, of one head for every 32 of its width.

    Args:
        tokenizer: decides the vocabulary and the padding id.
        layers: transformer layers; 6 in MiniLM, 12 in BERT-base.
        hidden_size: width, a multiple of 32; 384 in MiniLM, 768 in BERT-base.
        seed: the same seed gives the same weights.
    """
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        num_hidden_layers=layers,
        num_attention_heads=hidden_size // HEAD,
        intermediate_size=4 * hidden_size,
        max_position_embeddings=POSITIONS,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Bert(BertForMaskedLM(config)).eval()
