"""Pain 40: special tokens take over the vectors, and all documents look alike. Here lexicons leave them out, and alike vectors are warned of."""

from __future__ import annotations

import numpy as np
import torch

from retrolex.backbones import load_backbone
from retrolex.encoding import Encoder
from retrolex.pretraining.watch import warnings


def test_special_tokens_weigh_nothing(tiny_model_folder):
    """A text's lexicon is that of its own tokens, whatever the model predicts at [CLS] and [SEP]."""
    backbone, tokenizer = load_backbone(tiny_model_folder)
    inputs = tokenizer("the river floods", return_tensors="pt")
    logits = backbone.model(**inputs).logits[0].detach()
    own, all_of_them = (torch.log1p(part.max(0).values.relu()).numpy() for part in (logits[1:-1], logits))
    found = Encoder(tiny_model_folder, "lexicon").encode(["the river floods"]).toarray()[0]
    np.testing.assert_allclose(found, own, atol=0.02)
    assert np.abs(own - all_of_them).max() > 0.1
    assert Encoder(tiny_model_folder, "lexicon").encode([""]).nnz == 0


def test_alike_vectors_are_warned_of():
    row = {"step": 10, "held_out": {"loss": 3.0}, "cosine": 0.999, "density": 0.01}
    assert "nearly the same" in " ".join(warnings(row, "dense", row))
    assert not warnings(row | {"cosine": 0.5}, "dense", row)
