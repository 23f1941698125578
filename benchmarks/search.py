"""The lexicon index against scipy (and VSAG's SINDI, where the package pyvsag is installed) on one synthetic collection.

    python benchmarks/search.py                          100,000 documents
    python benchmarks/search.py --documents 1000000      a million; about 4 GB of memory

The collection imitates a learned sparse model's vectors: about 130 terms a document from a topic's and from a general Zipf
distribution, weights log(1 + x), about 30 terms a query. Engines take turns at the same queries, one query at a time, on one thread;
times are processor time, which other work on the machine disturbs less than the clock.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy
from scipy import sparse

from retrolex.index.lexicon import LexiconIndex

TERMS = 30_522
TOPICS, TOPIC_TERMS = 2_000, 320
SHARD = 16_384
Search = Callable[[sparse.csr_array, int], np.ndarray]


class Synthetic:
    """Documents and queries of a model that never was."""

    def __init__(self, seed: int = 7):
        self.rng = np.random.default_rng(seed)
        self.by_frequency = self.rng.permutation(TERMS)
        share = 1.0 / (np.arange(TERMS) + 30) ** 1.05
        self.general = np.cumsum(share / share.sum())
        share = 1.0 / (np.arange(TERMS) + 40) ** 0.92
        topical = np.cumsum(share / share.sum())
        self.topics = self.by_frequency[self._draw(topical, (TOPICS, TOPIC_TERMS))]
        strength = (1 + np.arange(TOPIC_TERMS) / 10) ** -0.6
        self.within_topic = np.cumsum(strength / strength.sum())

    def _draw(self, cumulative: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return np.minimum(np.searchsorted(cumulative, self.rng.random(shape)), len(cumulative) - 1)

    def rows(self, count: int, topical: int, general: int, scale: float) -> sparse.csr_array:
        """[count, TERMS]: each row draws terms of one topic and general ones; terms drawn twice weigh more."""
        topic = self.rng.integers(TOPICS, size=(count, 1))
        terms = np.concatenate([self.topics[topic, self._draw(self.within_topic, (count, topical))],
                                self.by_frequency[self._draw(self.general, (count, general))]], axis=1)  # fmt: skip
        weights = scale * np.exp(0.8 * self.rng.standard_normal(terms.shape, dtype=np.float32))
        pointers = np.arange(count + 1, dtype=np.int32) * terms.shape[1]
        rows = sparse.csr_array((weights.reshape(-1), terms.reshape(-1).astype(np.int32), pointers), shape=(count, TERMS))
        rows.sum_duplicates()
        rows.data = np.log1p(rows.data)
        return rows

    def documents(self, count: int) -> Iterator[sparse.csr_array]:
        """Shards of a collection."""
        for start in range(0, count, SHARD):
            yield self.rows(min(SHARD, count - start), topical=105, general=52, scale=0.9)


def impacts_by_term(vectors: sparse.csr_array) -> sparse.csr_array:
    """[TERMS, documents] floor(100 v): what scipy searches fastest."""
    by_term = sparse.csr_array(vectors.T)
    by_term.data = np.floor(100 * by_term.data).astype(np.int32)
    return by_term


def scipy_rows(by_term: sparse.csr_array) -> Search:
    """numpy over scipy's matrix: the rows of a query's terms added up, and a partial sort."""

    def search(query: sparse.csr_array, k: int) -> np.ndarray:
        sums = np.zeros(by_term.shape[1], np.int32)
        for term, weight in zip(query.indices, np.floor(100 * query.data).astype(np.int32), strict=True):
            begin, end = by_term.indptr[term], by_term.indptr[term + 1]
            sums[by_term.indices[begin:end]] += weight * by_term.data[begin:end]
        return np.sort(np.partition(sums, -k)[-k:])[::-1]

    return search


def scipy_product(by_term: sparse.csr_array) -> Search:
    """scipy's own sparse product, and a partial sort."""

    def search(query: sparse.csr_array, k: int) -> np.ndarray:
        impacts = sparse.csr_array((np.floor(100 * query.data).astype(np.int32), query.indices, query.indptr), shape=query.shape)
        sums = (impacts @ by_term).data
        return np.sort(np.partition(sums, -k)[-k:])[::-1]

    return search


def vsag(vectors: sparse.csr_array) -> Search:
    """VSAG's sparse inverted index, set to be exact: nothing pruned."""
    import pyvsag

    pyvsag.set_logger_off()
    settings = {"term_id_limit": TERMS, "window_size": 60_000, "doc_prune_ratio": 0.0, "use_reorder": False}
    index = pyvsag.Index("sindi", json.dumps({"dtype": "sparse", "dim": TERMS, "metric_type": "ip", "index_param": settings}))
    values = np.floor(100 * vectors.data)
    index.build(vectors.indptr.astype(np.uint32), vectors.indices.astype(np.uint32), values, np.arange(vectors.shape[0], dtype=np.int64))
    exact = json.dumps({"sindi": {"query_prune_ratio": 0.0, "term_prune_ratio": 0.0, "n_candidate": 0}})

    def search(query: sparse.csr_array, k: int) -> np.ndarray:
        pointers = np.array([0, query.nnz], np.uint32)
        distances = index.knn_search(pointers, query.indices.astype(np.uint32), np.floor(100 * query.data), k, exact)[1]
        return np.rint(1 - distances[0]).astype(np.int64)

    return search


def measure(engines: dict[str, Search], queries: list[sparse.csr_array], k: int, repeats: int) -> dict[str, np.ndarray]:
    """Milliseconds of processor time [queries] of each engine, the least of `repeats` rounds, in each of which the engines take turns."""
    times = {name: np.full(len(queries), np.inf) for name in engines}
    scores: dict[str, list[np.ndarray]] = {}
    for _ in range(repeats):
        for name, search in engines.items():
            scores[name] = []
            for number, query in enumerate(queries):
                started = time.process_time()
                scores[name].append(search(query, k))
                times[name][number] = min(times[name][number], 1e3 * (time.process_time() - started))
    for name, found in scores.items():
        if any(not np.array_equal(one, other) for one, other in zip(found, scores["retrolex"], strict=True)):
            raise SystemExit(f"{name} does not give the scores that retrolex gives, k={k}")
    return times


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--kernel", default=None, help="of the lexicon index; the fastest one when not given")
    parser.add_argument("--alone", action="store_true", help="no peers: less memory and time")
    options = parser.parse_args()

    synthetic = Synthetic()
    shards = list(synthetic.documents(options.documents))
    batch = synthetic.rows(options.queries, topical=24, general=5, scale=0.8)
    queries = [batch[row : row + 1] for row in range(options.queries)]
    frequencies = sum(np.bincount(shard.indices, minlength=TERMS) for shard in shards)
    touched = frequencies[batch.indices].sum() / len(queries) / options.documents
    print(f"{options.documents:,} documents, {frequencies.sum() / options.documents:.0f} terms each")
    print(f"{len(queries)} queries, {batch.nnz / len(queries):.0f} terms each; {touched:.2f} weights a query and document to add up")

    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        index = LexiconIndex.build(Path(folder) / "index", [str(position) for position in range(options.documents)], shards, kernel=options.kernel)
        print(f"retrolex ({index.kernel}): built in {time.process_time() - started:.1f} s, {index.bytes / len(index):.0f} bytes a document on disk")
        started = time.perf_counter()
        LexiconIndex.open(Path(folder) / "index")
        print(f"retrolex: opened in {1e3 * (time.perf_counter() - started):.0f} ms")
        engines: dict[str, Search] = {"retrolex": lambda query, k: index.search(query, k)[0][1]}
        if not options.alone:
            vectors = sparse.vstack(shards, format="csr")
            shards.clear()
            if importlib.util.find_spec("pyvsag"):
                started = time.process_time()
                engines["vsag sindi"] = vsag(vectors)
                print(f"vsag: built in {time.process_time() - started:.1f} s")
            else:
                print("vsag: not measured, pyvsag is not installed")
            by_term = impacts_by_term(vectors)
            del vectors
            engines |= {"scipy rows": scipy_rows(by_term), "scipy product": scipy_product(by_term)}
            size = by_term.data.nbytes + by_term.indices.nbytes + by_term.indptr.nbytes
            print(f"scipy: {size / options.documents:.0f} bytes a document in memory")
        print(f"python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, {platform.machine()}; one thread")
        print(f"{'k':>5}  {'engine':14} {'p50 ms':>8} {'p99 ms':>8} {'times retrolex':>15}")
        for k in (10, 1000):
            times = measure(engines, queries, k, options.repeats)
            for name, found in times.items():
                ratio = float(np.median(found / times["retrolex"]))
                print(f"{k:5}  {name:14} {np.percentile(found, 50):8.3f} {np.percentile(found, 99):8.3f} {ratio:15.1f}")
        for threads in (1, 2):
            started = time.perf_counter()
            index.search(batch, 1000, threads)
            print(f"batch, k=1000, {threads} threads: {len(queries) / (time.perf_counter() - started):,.0f} queries/s")


if __name__ == "__main__":
    main()
