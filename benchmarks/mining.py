"""Mining hard negatives from two synthetic runs: queries a second, and peak memory.

    python benchmarks/mining.py                                          2,000 queries, 10,000 documents; seconds
    python benchmarks/mining.py --queries 100000 --documents 100000      the size that 2 GB must be enough for; some minutes, 2 GB of disk

The runs are TREC files, one as deep as BM25's, one as a model's, with the positive somewhere in the first ranks, and a file of teacher
scores for the first 50. Everything is measured in one process: reading the runs, mining with both kinds of margins, writing.
"""

from __future__ import annotations

import argparse
import platform
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from retrolex.finetuning.negatives import NEGATIVES, MiningOptions, mine_pools, stream_negatives
from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.pools import RunPool
from retrolex.finetuning.ranked import Ranked
from retrolex.index.run_rows import run_rows

LIMIT = 2_000_000_000  # bytes
COPIES = 0.02  # share of documents with the text of an earlier one
TAUGHT = 50  # ranks with a teacher score


def write_run(path: Path, pairs: list[Pair], documents: int, depth: int, rng: np.random.Generator, columns: str) -> None:
    """Distinct random documents by falling score, the positive at a random place of the first twenty."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for pair in pairs:
            found = np.unique(rng.integers(documents, size=depth + depth // 10 + 8))
            rng.shuffle(found)
            names = [f"d{position}" for position in found[:depth].tolist() if f"d{position}" != pair.document]
            names.insert(int(rng.integers(min(20, len(names)))), pair.document)
            scores = np.sort(rng.exponential(4.0, len(names)) + 5.0)[::-1].tolist()
            for rank, (name, score) in enumerate(zip(names[:depth], scores, strict=False), 1):
                file.write(columns.format(query=pair.query_id, document=name, rank=rank, score=score))


def peak() -> int:
    """Bytes of the largest resident set so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def main() -> None:
    """Write the runs, read them, mine, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--deep", type=int, default=400, help="hits a query of the deep run")
    parser.add_argument("--shallow", type=int, default=200, help="hits a query of the other")
    parser.add_argument("--per-query", type=int, default=15)
    options = parser.parse_args()

    rng = np.random.default_rng(7)
    ids = [f"d{position}" for position in range(options.documents)]
    originals = np.arange(options.documents)
    copies = np.flatnonzero(rng.random(options.documents) < COPIES)[1:]
    originals[copies] = originals[copies // 2]
    originals = originals[originals]
    answers = rng.integers(options.documents, size=options.queries).tolist()
    pairs = [Pair(f"query {i}", "", ids[p], ids[originals[p]], "labelled", f"q{i}") for i, p in enumerate(answers)]
    position = {id: place for place, id in enumerate(ids)}.get
    trec, plain = "{query} Q0 {document} {rank} {score:.5f} synthetic\n", "{query}\t{document}\t{score:.5f}\n"
    print(f"{options.queries:,} queries, {options.documents:,} documents, runs {options.deep} and {options.shallow} deep")
    print(f"python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}; one thread")

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, depth, columns in (("deep", options.deep, trec), ("shallow", options.shallow, trec), ("teacher", TAUGHT, plain)):
            write_run(folder / name, pairs, options.documents, depth, rng, columns)
        start = peak()
        wanted = {pair.query_id for pair in pairs}
        began, busy = time.perf_counter(), time.process_time()
        ranked = {name: Ranked.write(folder / f"{name}.hits", run_rows(folder / name), position, wanted) for name in ("deep", "shallow", "teacher")}
        read = time.perf_counter() - began
        rows = sum(one.counts["rows"] for one in ranked.values())
        print(f"runs read: {rows:,} hits in {read:.1f} s ({time.process_time() - busy:.1f} s of processor time), {rows / read:,.0f} hits/s")
        pools = [RunPool("deep", ranked["deep"], depth=options.deep), RunPool("shallow", ranked["shallow"], first=3, depth=options.shallow)]
        mining = MiningOptions(per_query=options.per_query, relative_margin=0.05, teacher_margin=0.5)
        began, busy = time.perf_counter(), time.process_time()
        counts = mine_pools(pairs, pools, ids, originals, folder, mining, teacher=ranked["teacher"])
        mined = time.perf_counter() - began
        spent, written = time.process_time() - busy, (folder / NEGATIVES).stat().st_size / 1e6
        print(f"mined: {options.queries / mined:,.0f} queries/s in {mined:.1f} s ({spent:.1f} s of processor time), {written:.1f} MB written")
        print(", ".join(f"{name} {count:,}" for name, count in counts.items()))
        kept = sum(len(found) == options.per_query for found in stream_negatives(folder / NEGATIVES))
    print(f"rows with all {options.per_query} negatives: {kept:,} of {options.queries:,}")
    print(f"peak memory: {peak() / 1e6:,.0f} MB, of which {start / 1e6:,.0f} MB before the runs were read; limit {LIMIT / 1e6:,.0f} MB")
    if peak() > LIMIT:
        raise SystemExit("more memory than the limit")


if __name__ == "__main__":
    main()
