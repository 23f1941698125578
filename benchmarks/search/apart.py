"""A peer in a process of its own: one that hangs, crashes or grows does not end the measurement of the others.

The process is forked, so that it has the vectors without a copy. It is told to search a whole turn of queries at once, and
times each query itself.
"""

from __future__ import annotations

import multiprocessing
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from benchmarks.search.measure import peak_memory, reset_peak
from benchmarks.search.peers.base import Engine
from benchmarks.search.synthetic import Data


class GivenUpError(Exception):
    """An engine that does not answer in time, or at all; says how."""


class Apart:
    """One engine, built; answers until closed.

    Args:
        module: its name among the peers.
        data: what it indexes and searches.
        folder: where it may write.
        limit: seconds for building, and for each answer.

    Attributes:
        name: as printed.
        most: the largest k.
        facts: seconds and memory of building, bytes a document.

    Raises:
        GivenUpError: it was not built in time, or failed.
    """

    def __init__(self, module: str, data: Data, folder: Path, limit: float):
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self.limit = limit
        self.process = context.Process(target=serve, args=(other, self.pipe, module, data, folder), daemon=True)
        self.process.start()
        other.close()
        self.name, self.most, self.facts = self._answer()

    def turn(self, count: int, k: int) -> tuple[list[np.ndarray], np.ndarray]:
        """Search the first `count` queries one by one: documents, and seconds of processor time [count]."""
        return self._ask("turn", count, k)

    def rate(self, k: int, threads: int) -> float:
        """All queries, by the clock: queries a second."""
        return self._ask("rate", k, threads)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()

    def _ask(self, *request: Any) -> Any:
        self.pipe.send(request)
        return self._answer()

    def _answer(self) -> Any:
        try:
            if self.pipe.poll(self.limit):
                answer = self.pipe.recv()
                if not isinstance(answer, GivenUpError):
                    return answer
            else:
                answer = GivenUpError(f"given up after {self.limit:.0f} s")
        except (EOFError, ConnectionError):
            self.process.join()
            answer = GivenUpError(f"its process ended ({self.process.exitcode})")
        self.close()
        raise answer


def serve(pipe: Connection, parents: Connection, module: str, data: Data, folder: Path) -> None:
    """What the process does: build, then answer until the pipe is closed, also by the end of the parent."""
    parents.close()
    try:
        reset_peak()
        before, started = peak_memory(), perf_counter()
        engine: Engine = import_module(f"benchmarks.search.peers.{module}").engine(data, folder)
        seconds = perf_counter() - started
        facts = {"build s": seconds, "peak MB": (peak_memory() - before) / 2**20, "bytes/doc": engine.bytes / data.documents.shape[0]}
        pipe.send((engine.name, engine.most, facts))
        while True:
            what, *arguments = pipe.recv()
            pipe.send(engine.rate(*arguments) if what == "rate" else engine.turn(*arguments))
    except (EOFError, BrokenPipeError):
        return
    except Exception as error:  # of somebody else's engine: whatever it is, it is told
        pipe.send(GivenUpError(f"not run: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"))
