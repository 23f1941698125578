"""Pain 35: a process that imports torch and faiss can crash, in one order of the two or the other (macOS). Here both orders encode and search."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import {first}, {second}
import numpy as np
import torch
from pathlib import Path
from retrolex.index.dense import DenseIndex
vectors = torch.nn.functional.normalize(torch.randn(200, 32) @ torch.randn(32, 32), dim=1).numpy()
index = DenseIndex.build(Path({folder!r}), [str(i) for i in range(200)], [vectors])
assert all(hits[0][0] == row for row, hits in enumerate(index.search(vectors, 3, threads=2)))
torch.nn.Linear(32, 32)(torch.randn(500, 32)).sum().backward()
print("alive")
"""


@pytest.mark.parametrize("order", [("torch", "faiss"), ("faiss", "torch")])
def test_both_orders_live(order, tmp_path):
    code = CODE.format(first=order[0], second=order[1], folder=str(tmp_path / "index"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=250)
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr
