"""Pain 2: an encode that is killed begins anew. Here finished shards stay, and the result has the same bytes."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from retrolex.encoding.shards import encode_shards


def encode(folder: Path, last: int) -> int:
    """Encode 47 texts in shards of 10; at the shard after `last` of them this process kills itself. Returns how many it has encoded."""
    done = []

    def vectors(texts: list[str]) -> np.ndarray:
        done.append(texts)
        if len(done) > last:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([[float(text), 1 / (1 + int(text))] for text in texts], np.float32)

    encode_shards(47, lambda a, b: [str(number) for number in range(a, b)], vectors, folder, "test")
    return len(done)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL and fork")
def test_killed_after_three_shards_of_five(tmp_path, monkeypatch):
    monkeypatch.setattr("retrolex.encoding.shards.SHARD", 10)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    killed.mkdir()
    whole.mkdir()
    if (child := os.fork()) == 0:
        try:
            encode(killed, 3)
        finally:
            os._exit(0)  # reached only if nothing killed it
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert len(list(killed.glob("shard-*.npy"))) == 3
    assert (encode(killed, 5), encode(whole, 5)) == (2, 5)
    files = {path.name: path.read_bytes() for path in whole.iterdir()}
    assert len(files) == 5 and files == {path.name: path.read_bytes() for path in killed.iterdir()}
