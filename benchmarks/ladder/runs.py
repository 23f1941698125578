"""From a model to runs: encode a collection, search it with the questions of every split, and keep nothing but the hits."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.ladder.plan import DEPTH

from retrolex.backbones import Spec
from retrolex.collection import Collection
from retrolex.encoding.shards import encode_shards
from retrolex.encoding.two_part import open_encoder
from retrolex.evaluation.runs import read_run, write_run
from retrolex.index.base import Run, to_run
from retrolex.index.bm25 import BM25Index
from retrolex.pipeline.finetuning import build_index
from retrolex.pipeline.stages import texts


def path_of(folder: Path, collection: str, split: str, row: str) -> Path:
    """Where a run lies."""
    return folder / f"{collection}.{split}.{row}.trec"


def questions(collection: Collection, split: str) -> dict[str, str]:
    """Queries of a split, id -> text."""
    return {query: collection.queries[query] for query in collection.qrels(split) if query in collection.queries}


def missing(folder: Path, name: str, collection: Collection, row: str) -> list[str]:
    """Splits whose run is not there yet."""
    return [split for split in collection.splits if not path_of(folder, name, split, row).exists()]


def bm25_runs(folder: Path, name: str, collection: Collection, index: BM25Index) -> None:
    """The baseline's runs."""
    for split in missing(folder, name, collection, "bm25"):
        asked = questions(collection, split)
        write_run(path_of(folder, name, split, "bm25"), to_run(asked, index.search(list(asked.values()), DEPTH), index.ids), tag="bm25")


def untrained_runs(folder: Path, row: str) -> None:
    """The runs of a start are the same with every seed: those that another seed has made are taken."""
    for path in sorted(folder.parent.glob(f"runs-*/*.{row}.trec")):
        if not (folder / path.name).exists():
            partial = folder / f"{path.name}.partial"
            shutil.copyfile(path, partial)
            partial.rename(folder / path.name)


def model_runs(folder: Path, name: str, collection: Collection, row: str, model: Path, spec: Spec) -> None:
    """A model's runs; vectors and index are thrown away."""
    splits = missing(folder, name, collection, row)
    if not splits:
        return
    work = folder / f"{name}.{row}.work"
    vectors, index = work / "vectors", work / "index"
    for place in (vectors, index):
        place.mkdir(parents=True, exist_ok=True)
    encoder = open_encoder(model, spec.representation, spec=spec)
    label = f"Encoding ({row}, {name})"
    encode_shards(len(collection), lambda a, b: list(texts(collection, a, b, spec.separator)), encoder.encode, vectors, label)
    built = build_index(spec.representation, index, collection.ids, vectors, encoder.width - encoder.backbone.vocabulary_size)
    for split in splits:
        asked = questions(collection, split)
        found = built.search(encoder.encode(list(asked.values()), "query"), DEPTH)
        write_run(path_of(folder, name, split, row), to_run(asked, found, collection.ids), tag=row)
    shutil.rmtree(work)


def run_of(folder: Path, name: str, split: str, row: str) -> Run:
    """A run that was made."""
    return read_run(path_of(folder, name, split, row))
