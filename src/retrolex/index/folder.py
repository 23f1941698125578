"""An index folder as `retrolex index` keeps it: segments of lexicon or dense vectors, and the vocabulary of vectors keyed by term."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.index.base import Run, to_run
from retrolex.index.bm25 import SegmentedBM25Index
from retrolex.index.dense import SegmentedDenseIndex
from retrolex.index.foreign import Vectors, read_vectors
from retrolex.index.lexicon import SegmentedLexiconIndex
from retrolex.index.lexicon.approximate import ApproximateLexiconIndex
from retrolex.index.segments import STATE, SegmentedIndex

TERMS = "terms.json"
TYPES: tuple[type[SegmentedIndex], ...] = (SegmentedLexiconIndex, SegmentedDenseIndex, SegmentedBM25Index)
SAMPLED = 100  # queries that recall is measured on
BATCH = 256  # queries searched at a time


def open_index(folder: Path) -> SegmentedIndex:
    """Open a folder of segments, whatever they are made of.

    Raises:
        UserError: there is none, or it is damaged.
    """
    path = Path(folder) / STATE
    try:
        form = json.loads(path.read_text(encoding="utf-8"))["format"]
    except (OSError, ValueError, KeyError, TypeError):
        form = None
    for kind in TYPES:
        if form == kind.FORMAT:
            return kind.open(folder)
    raise UserError(f"no index here (no readable {STATE})", where=folder, mend="build one: retrolex index FOLDER --add VECTORS")


def add(folder: Path, vectors: Path, ids: Path | None, form: str | None, scale: float, kind: str, weights: str) -> SegmentedIndex:
    """Add documents, to a new index where there is none.

    Raises:
        UserError: vectors and index do not go together; see also `read_vectors` and `SegmentedIndex.add`.
    """
    folder = Path(folder)
    terms = _terms(folder)
    found = read_vectors(vectors, ids, form, scale, terms)
    if (folder / STATE).exists():
        index = open_index(folder)
        if ("dense" if found.dense else "lexicon") != index.KIND:
            raise UserError(f"these vectors do not go into a {index.KIND} index", where=vectors, mend="choose another index folder")
        if len(index) and (found.terms is None) != (terms is None) and not found.dense:
            raise UserError("vectors keyed by term and vectors by column do not go into one index", where=vectors, mend="choose another index folder")
        _append(index, found)
        return index
    index = SegmentedDenseIndex.create(folder, kind) if found.dense else SegmentedLexiconIndex.create(folder, weights)
    try:
        _append(index, found)
    except BaseException:
        shutil.rmtree(folder)  # an index that never had a document
        raise
    return index


def _append(index: SegmentedIndex, found: Vectors) -> None:
    if found.terms is not None:
        write_json(index.folder / TERMS, found.terms)  # first: it only grows, so that readers of the state before are not misled
    index.add(found.ids, found.shards())


def search(index: SegmentedIndex, queries: Vectors, k: int, threads: int, approximate: bool = False) -> tuple[Run, float | None]:
    """The best `k` documents of each query; of approximate search, also its recall@k against exact on up to 100 of the queries.

    Raises:
        UserError: the queries are not of the index's kind; more than 100 hits asked of an approximate lexicon search.
    """
    if queries.dense != (index.KIND == "dense"):
        raise UserError(f"these queries do not fit a {index.KIND} index", where=queries.path, mend="encode them with the documents' model")
    engine: Any = _approximate(index) if approximate else index
    run: Run = {}
    recall = None
    start = 0
    for shard in queries.shards():
        for first in range(0, shard.shape[0], BATCH):
            rows = shard[first : first + BATCH]
            run |= to_run(queries.ids[start : start + rows.shape[0]], engine.search(rows, k, threads), index.ids)
            if recall is None and approximate:
                recall = engine.recall(rows[:SAMPLED], k)
            elif recall is None and index.KIND == "dense" and index.option not in ("flat", "sq8"):
                recall = dense_recall(index, rows[:SAMPLED], k)
            start += rows.shape[0]
    return run, recall


def queries(folder: Path, path: Path, ids: Path | None, form: str | None, scale: float) -> Vectors:
    """Query vectors, keyed by the index's terms where its documents are."""
    return read_vectors(path, ids, form, scale, _terms(Path(folder)), grow=False)


def dense_recall(index: SegmentedDenseIndex, rows: np.ndarray, k: int) -> float:
    """Share of the true `k` nearest that the index finds."""
    vectors = np.concatenate(index.live_vectors())
    truth = np.argsort(-(rows @ vectors.T), axis=1, kind="stable")[:, :k]
    found = [positions for positions, _ in index.search(rows, k)]
    return round(float(np.mean([len(np.intersect1d(one, other)) / len(other) for one, other in zip(found, truth, strict=True)])), 4)


def _approximate(index: SegmentedIndex) -> ApproximateLexiconIndex:
    """The two-stage index beside the one segment; made at its first use, and gone with the next change."""
    if not isinstance(index, SegmentedLexiconIndex) or not index.is_merged:
        raise UserError("approximate search wants a lexicon index in one segment", where=index.folder, mend="merge it first: --merge")
    [exact] = index.opened
    folder = exact.folder.with_name(exact.folder.name + ".approximate")
    return ApproximateLexiconIndex.open(folder, exact) if folder.exists() else ApproximateLexiconIndex.build(folder, exact)


def _terms(folder: Path) -> list[str] | None:
    path = folder / TERMS
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def read_ids(path: Path) -> Sequence[str]:
    """Ids from a file, one a line.

    Raises:
        UserError: no such file.
    """
    if not path.is_file():
        raise UserError("no such file of ids", where=path, mend="name a text file with one id a line")
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line]
