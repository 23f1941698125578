"""What can be known to be wrong before any work is done: better refused in the first second than after an hour."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from retrolex.backbones import resolve_start
from retrolex.backbones.scratch import SCRATCH
from retrolex.backbones.two_part import FILE as PROJECTION
from retrolex.collection import Collection
from retrolex.collection.readers import reader_for
from retrolex.errors import UserError
from retrolex.evaluation.measures import parse_measures
from retrolex.finetuning.crops import KINDS
from retrolex.finetuning.keyphrases import NAME as KEYPHRASES
from retrolex.finetuning.stages import check_stages
from retrolex.index.dense_kinds import EXACT, LEAST
from retrolex.pipeline.recipe import Model, Recipe
from retrolex.training_trackers import check_trackers

RECIPE = "recipe.json"
TRAINING = ("steps", "epochs", "learning_rate", "tokens_per_batch", "queries", "accumulate", "token_budget", "chunk", "lora")
ABOVE_ZERO = ("count", "positives", *TRAINING, "probe_every", "save_every", "log_every")  # where they are given


def check(recipe: Recipe) -> None:
    """Check source, output, starts and figures of a recipe.

    Raises:
        UserError: a run of this recipe would stop half-way.
    """
    if not recipe.collection.source:
        raise UserError("no collection is named", where="collection.source", mend="write it into the recipe, or give --collection FOLDER")
    reader_for(recipe.collection.source, recipe.collection.reader)
    check_output(recipe)
    for name, model in recipe.models.items():
        if model.init != SCRATCH:
            resolve_start(model.init)
        for section in ("pretrain", "finetune"):
            check_figures(f"{name}.{section}", getattr(model, section))
        if model.pretrain:
            check_trackers(model.pretrain.report_to)
        check_training(name, model)
        if name != "dense" and model.kind != EXACT:
            raise UserError(f"the kind {model.kind!r} is one of dense indexes", where=f"{name}.kind", mend="leave it out")
    check_fusion(recipe)
    check_figures("pairs", recipe.pairs)
    if not parse_measures(recipe.evaluate.measures):
        raise UserError("no measure is named", where="evaluate.measures", mend="name one or more, such as nDCG@10")
    if unknown := sorted(set(recipe.pairs.shares) - {*KINDS, KEYPHRASES}):
        raise UserError(
            f"no kind of pseudo-query is called {unknown[0]!r}", where="pairs.shares", mend=f"choose among {', '.join([*KINDS, KEYPHRASES])}"
        )


def check_output(recipe: Recipe) -> None:
    """The run's folder is new, empty, or an earlier run's, and no part of the source: nothing of anybody's is ever replaced or read back.

    Raises:
        UserError: it is not.
    """
    folder, source, mend = recipe.folder, Path(recipe.collection.source), "name a new folder with --output"
    if folder.exists() and not folder.is_dir():
        raise UserError("a file, where the run's folder should be", where=folder, mend=mend)
    held = {path.name for path in folder.iterdir()} - {f"{RECIPE}.tmp"} if folder.is_dir() else set()  # killed before its first word
    if held and RECIPE not in held:
        raise UserError("this folder holds something else than a run", where=folder, mend=mend)
    if source.is_dir() and folder.resolve().is_relative_to(source.resolve()):
        raise UserError("the run's folder lies inside the collection, which would read it back", where=folder, mend=f"{mend} outside {source}")


def check_training(name: str, model: Model) -> None:
    """The fine-tuning section of a retriever, with its stages, can be carried out.

    Raises:
        UserError: it cannot.
    """
    where = f"{name}.finetune"
    if model.finetune is None:
        if name == "dupmae" and (model.pretrain or model.init == SCRATCH or not (Path(resolve_start(model.init)) / PROJECTION).exists()):
            mend = "give dupmae a section finetune, or a start that was fine-tuned so"
            raise UserError(f"two-part vectors need a projection of their dense part ({PROJECTION}), which training makes", where=where, mend=mend)
        return
    check_stages(model.finetune.stages, f"{where}.stages")
    for number, stage in enumerate(model.finetune.stages):
        check_figures(f"{where}.stages.{number}", stage)
        if stage.teacher is not None:
            resolve_start(stage.teacher)
    if not model.finetune.stages and model.finetune.loss != "contrastive":
        raise UserError(f"the loss {model.finetune.loss!r} needs a teacher", where=where, mend="write it as a stage: stages: [{teacher: ...}]")


def check_fusion(recipe: Recipe) -> None:
    """The systems that the fusion names are in the run.

    Raises:
        UserError: one is not.
    """
    fusion = recipe.search.fusion
    if fusion in ("rescore", "ensemble") and (missing := [name for name in ("lexicon", "dense") if name not in recipe.models]):
        what = f"the fusion {fusion!r} is of lexicon and dense, and this run has no {missing[0]}"
        raise UserError(what, where="search.fusion", mend=f"give the recipe a section {missing[0]}, or choose another fusion")


def check_documents(recipe: Recipe, collection: Collection) -> None:
    """There are enough documents for the kind of index that the recipe names: known before any training.

    Raises:
        UserError: there are not.
    """
    dense, count = recipe.dense, len(collection)
    if dense and dense.kind != EXACT and not dense.passages and count < LEAST:
        what = f"{count:,} documents are too few for a dense index of kind {dense.kind!r}, which needs {LEAST:,}"
        raise UserError(what, where="dense.kind", mend=f"use kind {EXACT}")


def check_figures(where: str, options: object) -> None:
    """Counts and rates of a training section are above zero where they are given.

    Raises:
        UserError: one is not.
    """
    for name in ABOVE_ZERO:
        value = getattr(options, name, None)
        if value is not None and not value > 0:
            raise UserError(f"{name} is {value}, expected more than 0", where=where, mend="correct the value, or leave the section out with null")


def check_split(collection: Collection, split: str) -> None:
    """The split has a query that can be asked and has an answer.

    Raises:
        UserError: it has none, so nothing could be measured with it.
    """
    qrels, queries = collection.qrels(split), collection.queries
    asked = [query for query in qrels if queries.get(query, "").strip()]
    if not asked:
        what = f"none of the {len(qrels)} judged queries of the split {split!r} has a text in the collection, such as {next(iter(qrels))!r}"
        raise UserError(what, where=f"qrels/{split}.tsv", mend="put their texts into queries.jsonl under the same ids, or remove the judgments")
    if not any(grade >= 1 and document in collection for query in asked for document, grade in qrels[query].items()):
        what = f"no query of the split {split!r} has a relevant document (a grade of at least 1) that is in the collection"
        raise UserError(what, where=f"qrels/{split}.tsv", mend="correct the judgments, or remove them")


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Make the run's folder and hold it: a second run would pull this one's half-written folders from under it.

    Raises:
        UserError: the folder cannot be made, or another run is at work in it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"the run's folder cannot be made: {error.strerror}", where=folder, mend="name another folder with --output") from None
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # given back by the system even when the run is killed
        yield
    except BlockingIOError:
        raise UserError("another run is at work in this folder", where=folder, mend="wait for it, or name another folder with --output") from None
    finally:
        os.close(handle)
