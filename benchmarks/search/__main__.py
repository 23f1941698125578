"""The lexicon index against its peers: same vectors, one run, taking turns.

    python -m benchmarks.search                                      100,000 synthetic documents
    python -m benchmarks.search --documents 1000000                  a million; about 10 GB of memory
    python -m benchmarks.search --vectors RUN/lexicon/vectors        vectors of a real model
    python -m benchmarks.search --only own,lucene                    some of the engines

Queries are searched one at a time on one thread; times are processor time, which other work on the machine disturbs less than the
clock, the least of several rounds in each of which the engines take turns. Queries a second are by the clock.
Recall is against the exact hits: a hit whose exact score reaches that of the k-th counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import scipy
from benchmarks.search.measure import Table, bandwidth, peak_memory, recall, reset_peak
from benchmarks.search.peers import PEERS
from benchmarks.search.peers.base import Engine, NotInstalledError
from benchmarks.search.peers.own import Own
from benchmarks.search.synthetic import Data, encoded, synthetic

KS = (10, 1000)


def build(names: list[str], data: Data, folder: Path) -> tuple[dict[str, Engine], dict[str, dict]]:
    """The engines that run here, and what building each took; the others are named as not run."""
    engines, facts = {}, {}
    for name in names:
        module = import_module(f"benchmarks.search.peers.{name}")
        reset_peak()
        before, started = peak_memory(), time.perf_counter()
        try:
            engine = module.engine(data, folder / name)
        except NotInstalledError as missing:
            print(f"{name}: not run, missing: {missing}", flush=True)
            continue
        except Exception as error:  # a peer that fails must not end the measurement of the others
            print(f"{name}: not run: {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
            continue
        seconds, documents = time.perf_counter() - started, data.documents.shape[0]
        facts[engine.name] = {"build s": seconds, "peak MB": (peak_memory() - before) / 2**20, "bytes/doc": engine.bytes / documents}
        engines[engine.name] = engine
        print(f"{engine.name}: built in {seconds:.1f} s, {engine.bytes / documents:.0f} bytes a document", flush=True)
    return engines, facts


def latencies(engines: dict[str, Engine], data: Data, k: int, repeats: int, slow: int) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Milliseconds [queries] and recall of each engine; slow ones search the first `slow` queries only."""
    own, count = engines["retrolex"], data.queries.shape[0]
    assert isinstance(own, Own)
    asked = {name: count for name in engines}
    for name, engine in engines.items():
        if engine.timed(0, k)[1] > 0.005:
            asked[name] = min(slow, count)
    times = {name: np.full(asked[name], np.inf) for name in engines}
    recalls = {}
    for turn in range(repeats):
        for name, engine in engines.items():
            found = []
            for number in range(asked[name]):
                documents, seconds = engine.timed(number, k)
                times[name][number] = min(times[name][number], 1e3 * seconds)
                found.append(documents)
            if turn == 0:
                recalls[name] = recall(data, found, [own.kth(number, k) for number in range(len(found))], k)
    return times, recalls


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--vectors", type=Path, help="a folder that retrolex encoded, in place of synthetic documents")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--slow", type=int, default=40, help="queries for engines that take over 5 ms for one")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default=",".join(PEERS), help="engines, separated by commas")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()

    data = encoded(options.vectors, options.queries) if options.vectors else synthetic(options.documents, options.queries)
    documents, queries = data.documents.shape[0], data.queries.shape[0]
    print(f"{data.name}; {data.documents.nnz / documents:.0f} terms each; {queries} queries of {data.queries.nnz / queries:.0f} terms")
    print(f"python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, {platform.machine()}, {os.cpu_count()} cores")
    names = ["own", *(name for name in options.only.split(",") if name != "own")]
    with tempfile.TemporaryDirectory() as folder:
        engines, facts = build(names, data, Path(folder))
        own = engines["retrolex"]
        assert isinstance(own, Own)
        print(f"retrolex: kernel {own.index.kernel}, opened in {1e3 * own.opened_in:.1f} ms")
        table = Table()
        for k in KS:
            k = min(k, documents)
            times, recalls = latencies(engines, data, k, options.repeats, options.slow)
            for name, engine in engines.items():
                mine = times["retrolex"][: len(times[name])]
                rates = {f"q/s {threads}t": engine.rate(k, threads) for threads in options.threads if times[name].mean() * queries < 60_000}
                p50, p99 = np.percentile(times[name], [50, 99])
                row = {"k": k, "engine": name, "p50 ms": p50, "p99 ms": p99, "times ours": np.median(times[name] / mine), **rates}
                table.add(row | {"recall": recalls[name]} | facts[name])
        print(table.text())
        speed, touched = bandwidth(), own.bytes_touched()
        print(f"roofline: a query's terms occupy {touched / 1e6:.2f} MB of the index; reading memory runs at {speed / 1e9:.1f} GB/s on one core,")
        least = 1e3 * touched / speed
        for k in KS:
            p50 = next((row["p50 ms"] for row in table.rows if row["engine"] == "retrolex" and row["k"] == min(k, documents)), least)
            print(f"  so that reading all of it takes {least:.3f} ms; k={k}: {p50:.3f} ms, {p50 / least:.1f} times that")
        if options.json:
            options.json.write_text(
                json.dumps({"data": data.name, "rows": table.rows, "bytes touched": touched, "bandwidth": speed}, indent=1) + "\n"
            )
        for engine in engines.values():
            engine.close()


if __name__ == "__main__":
    main()
