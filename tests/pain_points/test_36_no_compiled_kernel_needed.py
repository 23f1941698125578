"""Pain 36: an index that only a compiled library reads, and that cannot be pickled. Here it is plain files, and the kernel only makes it fast."""

from __future__ import annotations

import pytest
from scipy import sparse

from retrolex.index.lexicon import LexiconIndex
from retrolex.index.lexicon.native import NUMPY, available


@pytest.mark.parametrize("weights", ["floor", "round", "float"])
def test_the_same_hits_without_the_kernel(tmp_path, weights):
    documents = sparse.random_array((300, 40), density=0.3, format="csr", dtype="float32", rng=1)
    queries = sparse.random_array((20, 40), density=0.2, format="csr", dtype="float32", rng=2)
    LexiconIndex.build(tmp_path / "index", [f"doc {number}" for number in range(300)], documents, weights)
    found = {kernel: LexiconIndex.open(tmp_path / "index", kernel).search(queries, 10) for kernel in available()}
    assert NUMPY in found
    for hits in found.values():
        for (positions, scores), (expected, their) in zip(hits, found[NUMPY], strict=True):
            assert positions.tolist() == expected.tolist() and scores.tolist() == their.tolist()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix not in (".json", ".npy")]  # nothing pickled
