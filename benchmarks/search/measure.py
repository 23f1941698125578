"""Recall, memory, bandwidth, and the table."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from benchmarks.search.synthetic import Data


def recall(data: Data, found: list[np.ndarray], best: list[np.ndarray]) -> float:
    """Share of the best hits that was found: of as many as there are, those whose exact score reaches the last one's.

    Args:
        found: positions of documents, a query each. Some engines fill up with numbers that are no positions when fewer than k match.
        best: exact scores of the k best hits, falling; fewer where fewer match.
    """
    shares, table = [], np.zeros(data.documents.shape[1], np.int64)
    rows = data.documents
    for number, (documents, exact) in enumerate(zip(found, best, strict=True)):
        terms, weights = data.query(number)
        table[terms] = weights
        real = documents[(documents >= 0) & (documents < rows.shape[0])]
        spans = [slice(rows.indptr[document], rows.indptr[document + 1]) for document in real]
        scores = np.array([(table[rows.indices[span]] * rows.data[span]).sum() for span in spans])
        table[terms] = 0
        if len(exact):
            shares.append(min(len(exact), int((scores >= exact[-1]).sum())) / len(exact))
    return float(np.mean(shares))


def bandwidth(bytes_: int = 1 << 28) -> float:
    """Bytes a second that one core reads from memory, the best of several passes over an array far larger than the caches."""
    array, best = np.ones(bytes_ // 8, np.int64), np.inf
    for _ in range(7):
        started = time.perf_counter()
        array.max()
        best = min(best, time.perf_counter() - started)
    return bytes_ / best


def reset_peak() -> None:
    """Let the kernel count this process's peak memory afresh (Linux)."""
    with suppress(OSError):  # elsewhere the peak is that of the whole run
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Peak resident bytes of this process since the last reset; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


class Table:
    """Rows of figures, printed in columns."""

    def __init__(self):
        self.rows: list[dict] = []

    def add(self, row: dict) -> None:
        """A row; its keys are the columns."""
        self.rows.append({key: float(value) if isinstance(value, np.floating) else value for key, value in row.items()})

    def text(self) -> str:
        """Markdown."""
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
        return "\n".join([*lines, *("| " + " | ".join(shown(row.get(column)) for column in columns) + " |" for row in self.rows)])


def shown(value: object) -> str:
    """Three or four telling digits."""
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"
