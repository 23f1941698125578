"""The lexicon index against its peers: same vectors, one run, taking turns.

    python -m benchmarks.search                                      100,000 synthetic documents
    python -m benchmarks.search --documents 1000000                  a million; about 10 GB of memory
    python -m benchmarks.search --vectors RUN/lexicon/vectors        vectors and queries of a real model, from a finished run
    python -m benchmarks.search --only own,lucene --limit 1200       some of the engines, each with 20 minutes for building

Queries are searched one at a time on one thread; times are processor time, which other work on the machine disturbs less than the
clock, the least of several rounds in each of which the engines take turns. Queries a second are by the clock. Each peer lives
in a process of its own, and is given up when it is not built, or does not finish a turn, within the limit.
Recall is against the exact hits: a hit whose exact score reaches that of the k-th counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from benchmarks.search.apart import Apart, GivenUpError
from benchmarks.search.measure import Table, bandwidth, peak_memory, recall, reset_peak
from benchmarks.search.peers import PEERS
from benchmarks.search.peers.own import Own
from benchmarks.search.synthetic import Data, encoded, synthetic

KS = (10, 1000)


def build(names: list[str], data: Data, folder: Path, limit: float, table: Table) -> tuple[Own, dict[str, Apart]]:
    """Our index, and the peers that could be built; the others have their row already."""
    reset_peak()
    before, started = peak_memory(), time.perf_counter()
    own = Own(data, folder / "own")
    seconds, size = time.perf_counter() - started, own.bytes / data.documents.shape[0]
    own.facts = {"build s": seconds, "peak MB": (peak_memory() - before) / 2**20, "bytes/doc": size}
    print(f"retrolex: built in {seconds:.1f} s, {size:.0f} bytes a document", flush=True)
    peers = {}
    for name in names:
        try:
            peer = Apart(name, data, folder / name, limit)
        except GivenUpError as how:
            print(f"{name}: {how}", flush=True)
            table.add({"k": "", "engine": name, "p50 ms": str(how)})
            continue
        peers[peer.name] = peer
        print(f"{peer.name}: built in {peer.facts['build s']:.1f} s, {peer.facts['bytes/doc']:.0f} bytes a document", flush=True)
    return own, peers


def measure(own: Own, peers: dict[str, Apart], data: Data, k: int, options: argparse.Namespace, table: Table) -> None:
    """A row an engine. Slow peers search the first `slow` queries only; one that is given up is out."""
    count = data.queries.shape[0]
    best = [own.best(number, k) for number in range(count)]
    engines: dict[str, Any] = {own.name: own, **{name: peer for name, peer in peers.items() if peer.most >= k}}
    times: dict[str, np.ndarray] = {}
    rows = {name: {"k": k, "engine": name} for name in engines}

    def lost(name: str, how: GivenUpError) -> None:
        print(f"{name}, k={k}: {how}", flush=True)
        rows[name]["p50 ms"] = str(how)
        del peers[name], engines[name]

    for turn in range(options.repeats):
        for name, engine in list(engines.items()):
            try:
                if turn == 0:
                    slow = engine.turn(1, k)[1][0] > 0.005
                    times[name] = np.full(min(options.slow, count) if slow else count, np.inf)
                found, seconds = engine.turn(len(times[name]), k)
            except GivenUpError as how:
                lost(name, how)
                continue
            times[name] = np.minimum(times[name], 1e3 * seconds)
            if turn == 0:
                rows[name]["recall"] = recall(data, found, best[: len(found)])
    for name, engine in list(engines.items()):
        p50, p99 = np.percentile(times[name], [50, 99])
        ratio = np.median(times[name] / times[own.name][: len(times[name])])
        try:
            rates = {f"q/s {threads}t": engine.rate(k, threads) for threads in options.threads if times[name].mean() * count < 60_000}
        except GivenUpError as how:
            lost(name, how)
            continue
        figures = {"p50 ms": p50, "p99 ms": p99, "times ours": ratio, **rates}
        rows[name] = {"k": k, "engine": name, **figures, "recall": rows[name]["recall"], **engine.facts}
    for row in rows.values():
        table.add(row)


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
    parser.add_argument("--limit", type=float, default=600, help="seconds that a peer may take to build, and for a turn of queries")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()

    data = encoded(options.vectors, options.queries) if options.vectors else synthetic(options.documents, options.queries)
    documents, queries = data.documents.shape[0], data.queries.shape[0]
    print(f"{data.name}; {data.documents.nnz / documents:.0f} terms each; {queries} queries of {data.queries.nnz / queries:.0f} terms")
    print(f"python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, {platform.machine()}, {os.cpu_count()} cores")
    names = [name for name in options.only.split(",") if name != "own"]
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        own, peers = build(names, data, Path(folder), options.limit, table)
        print(f"retrolex: kernel {own.index.kernel}, opened in {1e3 * own.opened_in:.1f} ms")
        for k in KS:
            measure(own, peers, data, min(k, documents), options, table)
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
        for peer in peers.values():
            peer.close()


if __name__ == "__main__":
    main()
