"""Where ``retrolex mine`` finds what it needs: a collection, pairs, and pools of candidates, by the names that a user gives them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from retrolex.artifacts import Stage, key_of, sha256
from retrolex.collection import Collection
from retrolex.collection.arrow import DOCUMENTS
from retrolex.collection.fingerprint import source_fingerprint
from retrolex.collection.importing import import_collection
from retrolex.errors import UserError
from retrolex.finetuning.mined import MiningOptions
from retrolex.finetuning.pairs import TRAIN, Pair, judged_pairs, pseudo_id, read_pairs
from retrolex.finetuning.pools import Pool, RunPool
from retrolex.finetuning.ranked import Ranked
from retrolex.index.bm25 import BM25Index
from retrolex.index.run_rows import run_rows
from retrolex.pipeline.mining_systems import SystemPool
from retrolex.progress import track
from retrolex.search.searcher import SYSTEMS, Searcher

BM25 = "bm25"
DEPTHS = {BM25: 1000}  # ranks that are sampled where nothing is said: LexMAE, appendix A
DEPTH = 200
SPEC = re.compile(r"(?P<name>.+?)(?::(?:(?P<first>\d+)-)?(?P<depth>\d+))?")


@dataclass(frozen=True)
class Job:
    """The verb's arguments.

    Attributes:
        source: a run's folder, an imported collection, or anything that can be imported.
        pools: what `parse_spec` understands, in order of preference.
        output, format: the file, and its format's name.
        split, pairs: what to mine for: a split's judgments, or a file of pairs.
        teacher: a file of query id, document id and score.
        language: of a BM25 index that has to be made.
        engine: what asks the retrievers: ``here`` or ``ray``.
    """

    source: str
    pools: tuple[str, ...]
    output: Path
    format: str
    split: str
    pairs: Path | None
    teacher: Path | None
    language: str
    options: MiningOptions
    engine: str = "here"


def open_collection(source: str, work: Path) -> Collection:
    """The collection of a run folder, an imported one, or any source, which is imported into the work folder."""
    if folder := imported(source):
        return Collection.open(folder)
    Stage("collection", work / "collection", config=source_fingerprint(source)).run(lambda out: import_collection(source, out))
    return Collection.open(work / "collection")


def imported(source: str) -> Path | None:
    """The folder of a collection that needs no import any more: a run's, or the source itself."""
    return next((folder for folder in (Path(source) / "collection", Path(source)) if (folder / DOCUMENTS[0]).exists()), None)


def rejects_of(collection: Collection, work: Path) -> list[dict[str, Any]]:
    """What could not be read of a source that was imported here, since its list goes with the work folder."""
    if collection.folder.parent != work:
        return []
    return [json.loads(line) for line in (collection.folder / "rejects.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]


def open_pairs(job: Job, collection: Collection, first: np.ndarray) -> tuple[list[Pair], list[dict[str, str]]]:
    """What to mine for, and the judgments that name what is not there.

    Raises:
        UserError: there is nothing to mine for.
    """
    own = Path(job.source) / "pairs" / TRAIN
    found: list[Pair | dict[str, str]]
    if job.pairs is not None or (job.split not in collection.splits and own.exists()):
        found = [pair if pair.query_id else replace(pair, query_id=pseudo_id(pair.query)) for pair in read_pairs(job.pairs or own)]
        unknown = next((pair for pair in found if pair.document not in collection), None)
        if unknown:
            raise UserError(f"no document {unknown.document!r} in the collection", where=job.pairs or own, mend="name the pairs' own collection")
    elif job.split in collection.splits:
        found = [pair for _, pair in judged_pairs(collection, job.split, first)]
    else:
        there = ", ".join(collection.splits) or "none"
        mend = "choose a --split, or give --pairs FILE"
        raise UserError(f"no judgments for the split {job.split!r}; there are: {there}", where=job.source, mend=mend)
    pairs = [pair for pair in found if isinstance(pair, Pair)]
    if not pairs:
        raise UserError("no query with a relevant document", where=job.source, mend="check the ids of the judgments")
    return pairs, [pair for pair in found if not isinstance(pair, Pair)]


def parse_spec(text: str) -> tuple[str, int, int]:
    """``NAME``, ``NAME:DEPTH`` or ``NAME:FIRST-DEPTH``."""
    name, first, depth = SPEC.fullmatch(text).group("name", "first", "depth") if text else ("", None, None)
    return name, int(first or 1), int(depth) if depth else DEPTHS.get(name, DEPTH)


def open_pool(job: Job, collection: Collection, pairs: list[Pair], work: Path, name: str, first: int, depth: int) -> Pool:
    """A pool by its name: a retriever of the source's run, ``bm25``, a run file, or another run's retriever.

    Raises:
        UserError: it is none of those.
    """
    path, position = Path(name), positions_of(collection)
    if (Path(job.source) / SYSTEMS).exists() and name in (searcher := Searcher.open(job.source)).described:
        return SystemPool(name, searcher.folder, searcher.described[name], position, first, depth, job.engine)
    if name == BM25:
        _bm25(job, collection, work)
        return SystemPool(name, work, {"kind": BM25, "index": BM25}, position, first, depth, job.engine)
    if path.is_file():
        label = path.name.removesuffix(".gz").rsplit(".", 1)[0]
        rows = track(run_rows(path), f"Reading {path}")
        wanted = {pair.query_id for pair in pairs}
        return RunPool(label, Ranked.write(work / f"{key_of(name)[:8]}.hits", rows, position, wanted, depth), first, depth)
    if (path.parent / SYSTEMS).exists():
        searcher = Searcher.open(path.parent)
        if path.name in searcher.described:
            return SystemPool(name, searcher.folder, searcher.described[path.name], position, first, depth, job.engine)
    raise UserError(f"no pool {name!r}: neither a retriever of this run nor a run file", mend="name bm25, a run file, or RUN-FOLDER/RETRIEVER")


def positions_of(collection: Collection) -> Callable[[str], int | None]:
    """A function from document ids to positions; None for an id that is not here."""
    return lambda id: collection.position(id) if id in collection else None


def _bm25(job: Job, collection: Collection, work: Path) -> None:
    def build(out: Path) -> dict[str, Any]:
        texts = track((document.full for document in collection), "Indexing (BM25)", len(collection))
        return {"documents": len(BM25Index.build(out, collection.ids, texts, job.language))}

    Stage(BM25, work / BM25, config={"language": job.language, "documents": documents_of(collection)}).run(build)


def documents_of(collection: Collection) -> str:
    """Hash of the documents."""
    return sha256(collection.folder / DOCUMENTS[0])


def state_of(job: Job, name: str) -> str:
    """What tells one state of a pool from another: a run file's hash, a run folder's systems."""
    for path in (Path(name), Path(job.source) / SYSTEMS, Path(name).parent / SYSTEMS):
        if path.is_file():
            return sha256(path)
    return ""
