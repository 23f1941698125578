"""A real cross-encoder's scores in bfloat16: near those in float32, and as fine."""

from __future__ import annotations

import json
import os
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from retrolex.backbones import cross_encoders
from retrolex.backbones.cross_encoders import load_cross_encoder

SHARED = os.environ.get("RETROLEX_SHARED")
pytestmark = [
    pytest.mark.skipif(not SHARED, reason="RETROLEX_SHARED is not set: no models here"),
    pytest.mark.skipif(torch.cuda.is_available(), reason="what a CPU does"),
]


def test_scores_in_bfloat16(monkeypatch):
    with (Path(SHARED) / "collections/climate-fever-evidence/corpus.jsonl").open(encoding="utf-8") as lines:
        pairs = [("Sea ice is melting in the Arctic.", json.loads(line)["text"]) for line in islice(lines, 60)]
    scores = {}
    for pays in (False, True):
        monkeypatch.setattr(cross_encoders, "bf16_pays", lambda pays=pays: pays)
        model = load_cross_encoder(Path(SHARED) / "models/ms-marco-MiniLM-L-12-v2")
        scores[pays] = model.predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    np.testing.assert_allclose(scores[True], scores[False], atol=0.15)  # of logits from -11 to 11
    assert scores[True].dtype == np.float32 and np.corrcoef(scores[True], scores[False])[0, 1] > 0.999
    rounded = torch.from_numpy(scores[True]).bfloat16().float().numpy()
    assert len(np.unique(rounded)) < len(np.unique(scores[True]))
