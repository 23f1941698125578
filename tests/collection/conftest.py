"""Import a source into a fresh folder, with one call."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import NamedTuple

import pytest

from retrolex.collection import Collection, import_collection


class Imported(NamedTuple):
    """What an import left."""

    collection: Collection
    counts: dict
    rejects: list[dict]
    warnings: list[dict]


def json_lines(path: Path) -> list[dict]:
    """The objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def importing(tmp_path_factory):
    """A function: source, and import_collection's options -> Imported."""
    numbers = itertools.count()

    def do(source, **options) -> Imported:
        target = tmp_path_factory.mktemp(f"collection-{next(numbers)}")
        counts = import_collection(source, target, **options)
        return Imported(Collection.open(target), counts, json_lines(target / "rejects.jsonl"), json_lines(target / "warnings.jsonl"))

    return do


@pytest.fixture
def write(tmp_path):
    """A function: name, contents (text or bytes) -> path below the test's folder."""

    def do(name: str, contents: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        return path

    return do
