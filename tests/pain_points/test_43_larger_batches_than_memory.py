"""Pain 43: accumulated gradients are not those of a larger contrastive batch. Here a batch is cut for memory only: its gradients stay the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.finetuning.training_pieces import gradients, pieces

from retrolex.finetuning.options import FinetuneOptions

OPTIONS = FinetuneOptions(queries=8, hard=1, flops=0.1)


@pytest.mark.parametrize("name", ["dense", "lexicon"])
def test_eight_queries_at_once_or_in_pieces(tiny_model_folder, name):
    found = []
    for chunk in (None, 40):  # tokens: a few texts at a time
        model, batches = pieces(tiny_model_folder, name, replace(OPTIONS, chunk=chunk))
        batch = batches(0)
        losses = model([batch], torch.tensor(1.0))
        losses["loss"].backward()
        found.append((losses["loss"].item(), gradients(model), len(batch["documents"]["parts"])))
    (whole, expected, _), (loss, cached, parts) = found
    assert parts > 2 and loss == pytest.approx(whole, rel=1e-5) and cached.keys() == expected.keys()
    for parameter, value in expected.items():
        torch.testing.assert_close(cached[parameter], value, atol=1e-6, rtol=1e-4)
