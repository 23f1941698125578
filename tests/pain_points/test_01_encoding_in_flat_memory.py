"""Pain 1: encoding keeps every vector in memory until the end. Here a shard is all there ever is."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np

from retrolex.encoding import Encoder
from retrolex.encoding.shards import encode_shards, read_shards

WIDTH = 768


def test_memory_does_not_grow_with_the_documents(tmp_path, monkeypatch):
    """One-word documents, whose vectors are all that weighs anything: 16,000 of them would be 49 MB."""
    monkeypatch.setattr("retrolex.encoding.shards.SHARD", 500)

    def peak(count: int) -> int:
        (tmp_path / str(count)).mkdir()
        tracemalloc.start()
        encode_shards(count, lambda a, b: ["word"] * (b - a), lambda texts: np.ones((len(texts), WIDTH), np.float32), tmp_path / str(count), "test")
        assert sum(len(shard) for shard in read_shards(tmp_path / str(count))) == count
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(500)  # what is imported and kept at the first call
    assert peak(16_000) < 16 << 20


def test_a_shard_of_a_model_holds_no_more_than_its_texts(tiny_model_folder: Path, tmp_path, monkeypatch):
    monkeypatch.setattr("retrolex.encoding.shards.SHARD", 50)
    encoder, held = Encoder(tiny_model_folder), []

    def encode(texts: list[str]) -> np.ndarray:
        held.append(len(texts))
        return encoder.encode(texts)

    counts = encode_shards(220, lambda a, b: [f"word{number}" for number in range(a, b)], encode, tmp_path, "test")
    assert held == [50, 50, 50, 50, 20] and counts["vectors"] == 220
