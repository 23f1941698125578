"""Pain 45: shards of vectors and the ids beside them do not match. Here seven documents in three shards each find themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from retrolex.encoding.ids import IDS, read_shard_ids, write_shard_ids
from retrolex.encoding.shards import encode_shards, read_shards
from retrolex.index.base import to_run
from retrolex.index.dense import DenseIndex
from retrolex.index.lexicon import LexiconIndex

NAMES = ["b", "10", "a", "2", "doc 5", "e\u0301", "g"]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "lexicon"])
def test_seven_documents_in_three_shards(tmp_path, monkeypatch, form):
    monkeypatch.setattr("retrolex.encoding.shards.SHARD", 3)
    one_hot = np.eye(7, dtype=np.float32)
    vectors = tmp_path / "vectors"
    vectors.mkdir()
    encode_shards(7, lambda a, b: NAMES[a:b], lambda names: form(one_hot[[NAMES.index(name) for name in names]]), vectors, "test")
    write_shard_ids(vectors, NAMES)
    assert [shard.shape[0] for shard in read_shards(vectors)] == [3, 3, 1]
    ids, kind = read_shard_ids(vectors / IDS), DenseIndex if form is np.asarray else LexiconIndex
    index = kind.build(tmp_path / "index", ids, read_shards(vectors))
    run = to_run(NAMES, index.search(form(one_hot), 1), index.ids)
    assert {query: hits[0][0] for query, hits in run.items()} == {name: name for name in NAMES}
