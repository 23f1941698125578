"""What `retrolex pretrain` does: a run's stages up to its pre-trained model, in the same folders, so that `retrolex run` can go on from there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from retrolex.backbones.scratch import SCRATCH
from retrolex.collection import Collection
from retrolex.errors import UserError
from retrolex.pipeline.model import Retriever
from retrolex.pipeline.processes import leads, rendezvous
from retrolex.pipeline.recipe import Recipe, make_recipe
from retrolex.pipeline.stages import begun, collect, prepare_model
from retrolex.pretraining.objectives import OBJECTIVES


def section_of(objective: str) -> str:
    """The recipe's section that an objective trains: ``dense``, or ``lexicon``.

    Raises:
        UserError: no such objective.
    """
    if objective not in OBJECTIVES:
        raise UserError(f"no objective {objective!r}", where="--objective", mend=f"choose one of {', '.join(OBJECTIVES)}")
    return "lexicon" if OBJECTIVES[objective].representation == "lexicon" else "dense"


def pretraining_recipe(
    source: str, output: str | None, init: str, pretrain: dict[str, Any], length: int, scratch: dict[str, int | None], overrides: list[str]
) -> Recipe:
    """A recipe of one retriever that is pre-trained and nothing else.

    Args:
        source, output: the text, and the run's folder.
        init: the start.
        pretrain: fields of `PretrainConfig`, ``objective`` among them.
        length: longest input in tokens.
        scratch: fields of the section of that name; None: the recipe's default.
        overrides: ``dotted.key=value`` items over all that.

    Raises:
        UserError: a value that no recipe can have, or a size for a start that is not from scratch.
    """
    section = section_of(pretrain["objective"])
    sizes = {key: value for key, value in scratch.items() if value is not None}
    if sizes and init != SCRATCH:
        raise UserError(f"the start {init!r} has a vocabulary and sizes of its own", where="--init", mend="use --init scratch with --train-tokenizer")
    model = {"init": init, "document_length": length, "pretrain": pretrain, "finetune": None, "guard": False}
    other = "dense" if section == "lexicon" else "lexicon"
    return make_recipe({"collection": {"source": source}, "output": output, "scratch": sizes, section: model, other: None}, overrides)


def pretrain_only(recipe: Recipe) -> Path:
    """Carry out the part of a recipe that ends with the pre-trained model; returns the model's folder.

    Stages that are up to date are skipped; a killed run continues where it was. Under ``torchrun`` the first process
    prepares what the others read, and all train.

    Raises:
        UserError: something in the source or the recipe that its owner has to mend.
    """
    with rendezvous() as prepared:
        if not leads():
            prepared()
            return train(recipe, collect(recipe, recipe.folder), lambda: None)
        with begun(recipe) as collection:
            return train(recipe, collection, prepared)


def train(recipe: Recipe, collection: Collection, prepared: Callable[[], None]) -> Path:
    """Prepare the one start of a recipe, call `prepared`, and pre-train."""
    (name,) = recipe.models
    model, start, tokens = prepare_model(recipe, name, recipe.folder, collection)
    prepared()
    return Retriever(name, model, recipe.folder, collection, recipe.collection.language).pretrain(start, tokens)
