"""Pain 4: mining hard negatives explodes in memory. Here one query's candidates are held at a time."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import numpy as np

from retrolex.finetuning.negatives import MiningOptions, mine
from retrolex.finetuning.pairs import Pair
from retrolex.index.bm25 import BM25Index


def pair(query: str, document: str) -> Pair:
    return Pair(query, f"text of {document}", document, document, "labelled")


def test_4_mining_keeps_memory_flat(tmp_path: Path) -> None:
    """Mining holds one query's candidates at a time, whatever the number of queries."""
    ids = [f"d{i}" for i in range(2000)]
    index = BM25Index.build(tmp_path, ids, [f"word{i % 50} word{i % 7} word{i}" for i in range(2000)])
    peaks = []
    for count in (50, 300):
        pairs = [pair(f"word{i % 50} word{i % 7}", ids[i]) for i in range(count)]
        tracemalloc.start()
        mine(pairs, index.search, "bm25", ids, np.arange(2000), tmp_path, MiningOptions(per_query=2))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 1_000_000


def test_mining_is_fast(tmp_path: Path) -> None:
    """A thousand queries over a thousand documents take well under ten seconds on any machine."""
    ids = [f"d{i}" for i in range(1000)]
    index = BM25Index.build(tmp_path, ids, [" ".join(f"w{(i * j) % 499}" for j in range(1, 60)) for i in range(1000)])
    pairs = [pair(f"w{i % 499} w{(3 * i) % 499} w{(7 * i) % 499}", ids[i]) for i in range(1000)]
    started = time.perf_counter()
    mine(pairs, index.search, "bm25", ids, np.arange(1000), tmp_path, MiningOptions())
    assert time.perf_counter() - started < 10
