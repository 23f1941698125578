"""Cross-encoders compute in what the machine is fast in; tests/shared has their scores."""

from __future__ import annotations

import pytest
import torch
from tests.pipeline.small import write_cross_encoder
from transformers import AutoModelForSequenceClassification

from retrolex.backbones import cross_encoders
from retrolex.backbones.cross_encoders import load_cross_encoder
from retrolex.errors import UserError


@pytest.fixture(scope="module")
def stored_in_half(tiny_model_folder, tmp_path_factory):
    folder = write_cross_encoder(tiny_model_folder, tmp_path_factory.mktemp("cross-encoders") / "half")
    AutoModelForSequenceClassification.from_pretrained(folder).half().save_pretrained(folder)
    return folder


@pytest.mark.skipif(torch.cuda.is_available(), reason="what a CPU does")
@pytest.mark.parametrize(("pays", "dtype"), [(True, torch.bfloat16), (False, torch.float32)])
def test_a_cpu_never_computes_in_half(stored_in_half, monkeypatch, pays, dtype):
    monkeypatch.setattr(cross_encoders, "bf16_pays", lambda: pays)
    loaded = load_cross_encoder(stored_in_half)
    kinds = [parameter.dtype for parameter in loaded.parameters()]
    assert set(kinds[:-2]) == {dtype} and kinds[-2:] == [torch.float32] * 2


def test_one_output_is_asked_for(tiny_model_folder, tmp_path):
    folder = write_cross_encoder(tiny_model_folder, tmp_path / "two")
    AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2, ignore_mismatched_sizes=True).save_pretrained(folder)
    with pytest.raises(UserError, match="2 outputs"):
        load_cross_encoder(folder)
