"""A language-model head for checkpoints that come without one, such as sentence encoders."""

from __future__ import annotations

import numpy as np
import torch

from retrolex.backbones.base import Backbone


@torch.no_grad()
def unigram_head(backbone: Backbone, unigrams: np.ndarray | None) -> None:
    """Make the head predict the unigram distribution: identity transform, small LayerNorm, log frequencies as bias.

    With the LayerNorm's weight at 0.3 the words' own scores only tilt the unigram prediction, so that training starts
    at the unigram cross-entropy instead of far above the uniform one.

    Args:
        backbone: its head's parameters are overwritten.
        unigrams: how often each vocabulary entry occurs in the collection [V]; None leaves the bias flat.
    """
    dense, _, norm = backbone.head
    torch.nn.init.eye_(dense.weight)
    norm.weight.fill_(0.3)
    for bias in (dense.bias, norm.bias):
        if bias is not None:
            bias.zero_()
    counts = np.ones(backbone.vocabulary_size) if unigrams is None else np.asarray(unigrams, dtype=np.float64) + 0.1  # unseen words stay possible
    backbone.vocabulary_bias.copy_(torch.from_numpy(np.log(counts / counts.sum())).float())
    backbone.head_is_new = True
