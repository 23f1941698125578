"""The ladder's tables: every row on every collection, averaged over seeds, with intervals and paired tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.ladder.hybrids import HYBRID, RERANKED
from benchmarks.ladder.plan import CONTROL, ROWS
from benchmarks.ladder.runs import path_of, run_of
from benchmarks.ladder.train import slug

from retrolex.collection import Collection
from retrolex.evaluation.comparison import Difference, compare
from retrolex.evaluation.evaluate import Evaluation, evaluate
from retrolex.evaluation.significance import intervals

MEASURES = ("nDCG@10", "RR@10", "R@100")
BM25 = "BM25"
ALL = sorted((*ROWS, CONTROL), key=lambda row: row.representation == "lexicon")  # the control stands below the row that it explains
NAMES = {BM25: "bm25", **{row.name: slug(row.name) for row in ALL}, "hybrid": HYBRID, "hybrid + reranker": RERANKED}
AGAINST_START = {row.name: row.against for row in ALL if row.against}
AGAINST_MLM = {row.name: row.mlm for row in ALL if row.mlm}
HEADER = "| collection | system | seeds | nDCG@10 | over seeds | RR@10 | R@100 | nDCG@10 against BM25 | against the start fine-tuned | against MLM |"


def averaged(folders: Sequence[Path], name: str, collection: Collection, row: str) -> list[Evaluation]:
    """The row's evaluation with each seed whose run is there."""
    there = [folder for folder in folders if path_of(folder, name, "test", row).exists()]
    return [evaluate(run_of(folder, name, "test", row), collection.qrels("test"), MEASURES) for folder in there]


def mean_of(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Each query's average over seeds: what is then resampled and tested are queries."""
    values = {measure: np.mean([found.values[measure] for found in evaluations], axis=0) for measure in evaluations[0].values}
    return replace(evaluations[0], values=values)


def lines(folders: Sequence[Path], collections: Mapping[str, Collection]) -> Iterator[str]:
    """The table, in markdown.

    Args:
        folders: of runs, one a seed.
        collections: by name.
    """
    yield HEADER
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, collection in collections.items():
        found = {label: made for label, row in NAMES.items() if (made := averaged(folders, name, collection, row))}
        means = {label: mean_of(made) for label, made in found.items()}
        if BM25 not in means:
            continue
        compared = [compare(means, BM25).differences, held(means, AGAINST_START), held(means, AGAINST_MLM)]
        place = f"{name} ({len(collection):,} documents, {len(means[BM25].queries):,} queries)"
        for label, mean in means.items():
            cells = [place, label, str(len(found[label])), *figures(mean, found[label]), *(change(differences, label) for differences in compared)]
            yield "| " + " | ".join(cells) + " |"
            place = ""


def held(means: Mapping[str, Evaluation], against: Mapping[str, str]) -> list[Difference]:
    """Differences of rows from the one that each is held against, corrected over those that share it."""
    found = []
    for rival in dict.fromkeys(against.values()):
        rows = [row for row, other in against.items() if other == rival and row in means]
        if rival in means and rows:
            found += compare({row: means[row] for row in (rival, *rows)}, rival).differences
    return found


def figures(mean: Evaluation, seeds: Sequence[Evaluation]) -> list[str]:
    """The measures with their intervals, and the standard deviation of nDCG@10 over seeds after it."""
    cells = [f"{figure.mean:.3f} [{figure.low:.3f}, {figure.high:.3f}]" for figure in intervals(mean).values()]
    spread = f"± {np.std([found.mean(MEASURES[0]) for found in seeds], ddof=1):.3f}" if len(seeds) > 1 else ""
    return [cells[0], spread, *cells[1:]]


def change(differences: Sequence[Difference], label: str) -> str:
    """A difference in nDCG@10; a star where it holds."""
    for found in differences:
        if (found.system, found.measure) == (label, MEASURES[0]):
            mark = " *" if found.significant else ""
            return f"{found.change.mean:+.3f} [{found.change.low:+.3f}, {found.change.high:+.3f}]{mark}"
    return ""
