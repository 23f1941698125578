"""Fixtures of the pipeline's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pipeline.small import write_collection


@pytest.fixture
def collection_folder(tmp_path: Path) -> Path:
    return write_collection(tmp_path / "notes")
