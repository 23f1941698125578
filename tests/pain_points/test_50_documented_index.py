"""Pain 50: a sparse index in an undocumented format that only one library reads. Here the format is written down, and no model library is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from scipy import sparse

from retrolex.index.lexicon import LexiconIndex
from retrolex.index.lexicon.storage import array_types

READ = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None  # importing them fails
from scipy import sparse
from retrolex.index.lexicon import LexiconIndex

index = LexiconIndex.open(sys.argv[1])
index.verify()
(positions, scores), = index.search(sparse.csr_array([[0.0, 1.0, 0.5]]), 5)
print([(index.ids[position], float(score)) for position, score in zip(positions, scores)])
"""


def test_reloaded_without_torch(tmp_path):
    vectors = sparse.csr_array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 2.0]], dtype="float32")
    LexiconIndex.build(tmp_path / "index", ["a", "b", "c"], vectors, "float")
    done = subprocess.run([sys.executable, "-c", READ, tmp_path / "index"], capture_output=True, text=True)
    assert done.stdout == "[('c', 2.0), ('a', 1.0)]\n", done.stderr


def test_every_array_is_described():
    described = (Path(__file__).parents[2] / "docs" / "index-format.md").read_text(encoding="utf-8")
    for weights in ("round", "float"):
        assert not [name for name in array_types(weights) if f"| `{name}` |" not in described]
