"""The stage behind `retrolex teach`: a run's pairs and negatives to a cross-encoder."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from retrolex.artifacts import Stage, read_manifest
from retrolex.collection import Collection
from retrolex.errors import UserError
from retrolex.finetuning.negatives import NEGATIVES, read_negatives
from retrolex.finetuning.pairs import TRAIN, read_pairs
from retrolex.finetuning.teach import TeachOptions, teach
from retrolex.pipeline.stages import execute, start_identity


def teach_run(run: Path, init: str, out: Path, options: TeachOptions) -> Path:
    """Train a cross-encoder on what a run has prepared; returns its folder. Skipped when up to date, resumed when killed.

    Args:
        run: the run's folder, with ``collection/`` and ``pairs/``.
        init: the start.
        out: a new folder, or an earlier teacher's.

    Raises:
        UserError: the run has no pairs yet, or `out` holds something else.
    """
    pairs = run / "pairs"
    if read_manifest(pairs) is None:
        raise UserError("no training pairs here", where=run, mend="run `retrolex run` or `retrolex finetune` on the collection first")
    if out.exists() and (read_manifest(out) or {}).get("stage") != "teacher":
        raise UserError("this folder holds something else than a teacher", where=out, mend="name a new folder with --output")
    collection = Collection.open(run / "collection")

    def work(partial: Path) -> dict[str, Any]:
        data = read_pairs(pairs / TRAIN), read_negatives(pairs / NEGATIVES)
        return teach(init, *data, lambda id: collection[collection.position(id)].full, partial, options)

    config = {**asdict(options), **start_identity(init)}
    execute(Stage("teacher", out, {"pairs": pairs, "collection": run / "collection"}, config), work)
    return out
