"""Shards on disk: their dtypes and numbers, and ids of every kind beside them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from retrolex.encoding.ids import IDS, read_shard_ids, write_shard_ids
from retrolex.encoding.shards import Shards, read_shards
from retrolex.errors import UserError

ROWS = np.arange(12, dtype=np.float32).reshape(6, 2) / 7


def shards(folder, encode=lambda rows: np.array(rows), size=4, dtype="float32", rows=ROWS) -> Shards:
    return Shards(len(rows), lambda a, b: list(rows[a:b]), encode, folder, size, dtype)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_half_precision_is_half_the_bytes_and_read_as_single(form, tmp_path):
    whole = {}
    for dtype in ("float32", "float16"):
        folder = tmp_path / dtype
        folder.mkdir()
        made = shards(folder, (lambda rows: np.array(rows)) if form == "dense" else lambda rows: sp.csr_array(np.array(rows)), dtype=dtype)
        for number in (1, 0):  # whoever comes first
            made.make(number)
        found = [*read_shards(folder)]
        assert [shard.dtype for shard in found] == [np.float32] * 2
        whole[dtype] = np.concatenate([shard if form == "dense" else shard.toarray() for shard in found])
        assert np.load(next(folder.glob("shard-00000.npy" if form == "dense" else "*.data.npy"))).dtype == dtype
    np.testing.assert_array_equal(whole["float32"], ROWS)
    np.testing.assert_array_equal(whole["float16"], ROWS.astype(np.float16))


@pytest.mark.parametrize(("number", "dtype", "advice"), [(1e6, "float16", "store them in float32"), (np.nan, "float32", "another model")])
def test_numbers_that_do_not_fit_are_refused(number, dtype, advice, tmp_path):
    rows = ROWS.copy()
    rows[5, 1] = number
    made = shards(tmp_path, dtype=dtype, rows=rows)
    made.make(0)
    with pytest.raises(UserError, match=f"shard-00001: numbers that {dtype} cannot hold.*\n.*{advice}"):
        made.make(1)


def test_shards_are_read_by_number_and_half_written_ones_removed(tmp_path):
    rows = np.arange(100_002, dtype=np.float32)[:, None]
    made = Shards(len(rows), lambda a, b: rows[a:b], lambda part: part, tmp_path, 1)
    for number in (100_001, 99_999, 7):
        made.make(number)
    (tmp_path / "shard-00003.abcd.writing").write_bytes(b"half")
    assert made.counts()["shards"] == 100_002
    assert [float(shard[0, 0]) for shard in read_shards(tmp_path)] == [7, 99_999, 100_001]
    assert not [*tmp_path.glob("*.writing")]


def test_ids_of_every_kind(tmp_path):
    ids = ["d1", "two words", "a\nb", "tab\t", "\u2028", "中文", '"', "0x85\x85"]
    write_shard_ids(tmp_path, iter(ids))
    assert read_shard_ids(tmp_path / IDS) == ids and (tmp_path / IDS).read_bytes().isascii()
    (tmp_path / IDS).write_text('"d1"\nd2\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"ids\.jsonl:2: not an id"):
        read_shard_ids(tmp_path / IDS)
