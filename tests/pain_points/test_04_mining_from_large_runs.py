"""Runs of any length are mined in the memory of one block of queries."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from retrolex.finetuning.negatives import MiningOptions, mine_pools
from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.pools import RunPool
from retrolex.finetuning.ranked import Ranked

IDS = [f"d{number}" for number in range(1000)]
POSITIONS = {id: position for position, id in enumerate(IDS)}


def rows(queries: int) -> Iterator[tuple[str, str, float]]:
    for number in range(queries):
        for place in range(200):
            yield f"q{number}", IDS[(number * 7 + place) % 1000], float(200 - place)


def test_4_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    """As objects, the longer run's hits alone would take ten times the difference that is allowed."""
    peaks = []
    for queries in (300, 900):
        pairs = [Pair(f"query {number}", "text", IDS[number], IDS[number], "labelled", f"q{number}") for number in range(queries)]
        tracemalloc.start()
        pool = RunPool("run", Ranked.write(tmp_path / "hits", rows(queries), POSITIONS.get, {pair.query_id for pair in pairs}, 200), depth=200)
        mine_pools(pairs, [pool], IDS, np.arange(1000), tmp_path, MiningOptions(per_query=4))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 1_500_000
