"""Fixtures of the pipeline's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pipeline import ray_cluster
from tests.pipeline.small import write_collection


@pytest.fixture
def collection_folder(tmp_path: Path) -> Path:
    return write_collection(tmp_path / "notes")


@pytest.fixture(scope="module")
def two_workers() -> Iterator[None]:
    """A real Ray of two workers."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ray_cluster.environment().items():
            patch.setenv(name, value)
        with ray_cluster.cluster():
            yield
