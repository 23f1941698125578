"""What an engine offers to be measured."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from benchmarks.search.synthetic import Data


class NotInstalledError(Exception):
    """The engine cannot run here; says what is missing."""


class Engine:
    """Builds in its constructor.

    Attributes:
        name: as printed.
        bytes: size of the index.
        most: the largest k.
        facts: seconds and memory of building, bytes a document; for the table.
    """

    name = ""
    bytes = 0
    most = 2**31

    def __init__(self, data: Data, folder: Path):
        self.data, self.facts = data, {}

    def search(self, number: int, k: int) -> np.ndarray:
        """Documents of a query, best first."""
        raise NotImplementedError

    def timed(self, number: int, k: int) -> tuple[np.ndarray, float]:
        """The same, and seconds of processor time it took."""
        started = process_time()
        found = self.search(number, k)
        return found, process_time() - started

    def turn(self, count: int, k: int) -> tuple[list[np.ndarray], np.ndarray]:
        """The first `count` queries one by one: documents, and seconds of processor time [count]."""
        found = [self.timed(number, k) for number in range(count)]
        return [documents for documents, _ in found], np.array([seconds for _, seconds in found])

    def rate(self, k: int, threads: int) -> float:
        """Queries a second by the clock."""
        numbers = range(self.data.queries.shape[0])
        started = perf_counter()
        if threads == 1:
            for number in numbers:
                self.search(number, k)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda number: self.search(number, k), numbers))
        return len(numbers) / (perf_counter() - started)

    def close(self) -> None:
        """Let go of what outlives the object."""


def size_of(path: Path) -> int:
    """Bytes of a file or folder."""
    return path.stat().st_size if path.is_file() else sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
