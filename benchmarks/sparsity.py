"""Top-K sparsification (LexMAE, appendix D): several K from one set of vectors; quality, queries a second and bytes a document.

    python -m benchmarks.sparsity runs/cranfield                     prints the table, writes sparsity.md and sparsity.svg
    python -m benchmarks.sparsity runs/cranfield --output figures/

Takes a folder that `retrolex run` finished with a lexicon retriever, and measures on its test split. Documents are cut to
their K largest weights; queries are not. Queries a second are of one thread, by processor time, the least of several rounds
in which the indexes take turns.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from benchmarks.search.measure import Table
from scipy import sparse

from retrolex.collection import Collection
from retrolex.encoding.shards import read_shards
from retrolex.errors import UserError
from retrolex.evaluation.evaluate import evaluate
from retrolex.index.base import to_run
from retrolex.index.lexicon import LexiconIndex
from retrolex.index.lexicon.approximate import strongest
from retrolex.search.searcher import Searcher

KS = (4, 8, 16, 32, 64, 128, 256)
HARDLY = 0.05  # share of the documents: a K that cuts no more of them is left out
MEASURES = ["nDCG@10", "R@100"]
WIDTH, HEIGHT, MARGIN = 560, 340, 56


def curve(run: Path, split: str, repeats: int) -> Table:
    """A row a K, the last without a cut."""
    collection = Collection.open(run / "collection")
    qrels = collection.qrels(split)
    texts = {query: collection.queries[query] for query in qrels if query in collection.queries}
    searcher = Searcher.open(run)
    if "lexicon" not in searcher.described:
        raise UserError("this run has no lexicon retriever", where=run, mend="run a recipe with a lexicon section")
    queries = sparse.csr_array(searcher.system("lexicon").encoder.encode(list(texts.values()), "query"))
    vectors = sparse.csr_array(sparse.vstack([sparse.csr_array(shard) for shard in read_shards(run / "lexicon" / "vectors")], format="csr"))
    lengths = np.diff(vectors.indptr)
    cuts = [*(k for k in KS if (lengths > k).mean() > HARDLY), int(lengths.max())]
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        indexes = [LexiconIndex.build(Path(folder) / str(k), list(collection.ids), strongest(vectors, k)) for k in cuts]
        hits = [index.search(queries, 1000) for index in indexes]
        taken = np.full(len(cuts), np.inf)
        for _ in range(repeats):
            for number, index in enumerate(indexes):
                started = time.process_time()
                index.search(queries, 1000)
                taken[number] = min(taken[number], time.process_time() - started)
        for k, index, found, seconds in zip(cuts, indexes, hits, taken, strict=True):
            evaluated = evaluate(to_run(texts, found, index.ids), qrels, MEASURES)
            quality = {measure: evaluated.mean(measure) for measure in MEASURES}
            terms = float(np.minimum(lengths, k).mean())
            table.add({"K": k, "terms/doc": terms, **quality, "q/s": len(texts) / seconds, "bytes/doc": index.bytes / len(index)})
    return table


def plot(table: Table, title: str) -> str:
    """SVG: bytes a document to the right (logarithmic), nDCG@10 upwards, each point with its K and its queries a second."""
    sizes, values = ([float(row[column]) for row in table.rows] for column in ("bytes/doc", "nDCG@10"))
    left, right = np.log(min(sizes)), np.log(max(sizes))
    top = max(values) or 1.0

    def place(size: float, value: float) -> tuple[float, float]:
        across = (np.log(size) - left) / (right - left or 1)
        return MARGIN + across * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - value / top * (HEIGHT - 2 * MARGIN)

    points = [place(size, value) for size, value in zip(sizes, values, strict=True)]
    marks = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/><text x="{x:.1f}" y="{y - 10:.1f}" text-anchor="middle">K={row["K"]}</text>'
        f'<text x="{x:.1f}" y="{HEIGHT - MARGIN + 16}" text-anchor="middle">{row["bytes/doc"]:.0f}</text>'
        f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle" opacity=".6">{row["q/s"]:,.0f}/s</text>'
        for row, (x, y) in zip(table.rows, points, strict=True)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    axes = f"M{MARGIN},{MARGIN / 2} V{HEIGHT - MARGIN} H{WIDTH - MARGIN / 2}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="white"/><path d="{axes}" fill="none" stroke="black"/>\n'
        f'<polyline points="{line}" fill="none" stroke="steelblue" stroke-width="2"/>\n<g fill="steelblue">{"".join(marks)}</g>\n'
        f'<text x="{WIDTH / 2}" y="16" text-anchor="middle" font-size="13">{title}</text>\n'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 10}" text-anchor="middle">bytes a document on disk; below each point: queries a second, k=1000</text>\n'
        f'<text x="8" y="{MARGIN / 2}">nDCG@10</text><text x="8" y="{MARGIN}">{top:.3f}</text>\n</svg>\n'
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path, default=Path("."))
    options = parser.parse_args()
    table = curve(options.run, options.split, options.repeats)
    print(table.text())
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "sparsity.md").write_text(table.text() + "\n", encoding="utf-8")
    (options.output / "sparsity.svg").write_text(plot(table, f"Top-K sparsification, {options.run.name}"), encoding="utf-8")


if __name__ == "__main__":
    main()
