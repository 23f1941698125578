"""Pain 6: a sparse model cannot mine. Here a miner is a name and a search function."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from retrolex.finetuning.negatives import NEGATIVES, MiningOptions, mine, read_negatives
from retrolex.finetuning.pairs import Pair


def pair(query: str, document: str) -> Pair:
    return Pair(query, f"text of {document}", document, document, "labelled")


def test_6_any_retriever_can_mine(tmp_path: Path) -> None:
    """A miner is a name and a search function: dense, lexicon or BM25."""

    def search(queries: list[str], k: int) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(np.array([2, 0, 1])[:k], np.array([3.0, 2.0, 1.0], dtype=np.float32)[:k]) for _ in queries]

    counts = mine([pair("q", "d2")], search, "lexicon", ["d0", "d1", "d2"], np.arange(3), tmp_path, MiningOptions(per_query=2))
    rows = read_negatives(tmp_path / NEGATIVES)[0]
    assert counts["mined"] == 2 and [(row.document, row.miner, row.rank) for row in rows] == [("d0", "lexicon", 2), ("d1", "lexicon", 3)]
