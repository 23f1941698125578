"""A tiny model as an export's source, and texts that are hard to get right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from retrolex.backbones import Spec
from retrolex.export.source import Source

TEXTS = ["The wing of an aircraft.", "", "naïve café 北京", "bread " * 200]


@pytest.fixture(params=["dense", "lexicon"])
def source(request: pytest.FixtureRequest, tiny_model_folder: Path) -> Source:
    """A dense and a lexicon model of the same weights."""
    spec = Spec(representation=request.param, pooling="mean", normalize=True, document_length=48, query_length=16)
    return Source(tiny_model_folder, spec if request.param == "dense" else replace(spec, normalize=False))


@pytest.fixture
def texts() -> list[str]:
    """An ordinary text, an empty one, one of other scripts, one that is too long."""
    return TEXTS
