"""What `retrolex finetune` does: the stages of a run up to its fine-tuned models, in the same folders; `retrolex run` can go on from there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from retrolex.errors import UserError
from retrolex.pipeline.finetuning import Miner
from retrolex.pipeline.model import Retriever
from retrolex.pipeline.processes import leads, rendezvous
from retrolex.pipeline.recipe import Recipe
from retrolex.pipeline.stages import begun, collect, evaluated_splits, index_bm25, prepare_model, prepare_pairs


def finetune_only(recipe: Recipe) -> dict[str, Path]:
    """Carry out the part of a recipe that ends with the fine-tuned models; returns their folders by representation.

    The folders are those of `retrolex run`, which goes on from there. Stages that are up to date are skipped; a killed run continues
    where it was. Under ``torchrun`` the first process prepares what the others read, and all train.

    Raises:
        UserError: something in the source or the recipe that its owner has to mend.
    """
    if not any(model.finetune for model in recipe.models.values()):
        raise UserError("nothing in this recipe is fine-tuned", mend="give dense or lexicon a section finetune")
    with rendezvous() as prepared:
        if leads():
            with begun(recipe):
                return train_all(recipe, prepared)
        return train_all(recipe, prepared)


def train_all(recipe: Recipe, prepared: Callable[[], None]) -> dict[str, Path]:
    """See `finetune_only`; all but the first process find finished what they prepare."""
    if not leads():
        prepared()
    folder = recipe.folder
    collection = collect(recipe, folder)
    _, dev = evaluated_splits(recipe, collection)
    pairs = prepare_pairs(recipe, folder, collection, index_bm25(recipe, folder, collection), dev)
    made = {name: prepare_model(recipe, name, folder, collection) for name in recipe.models}
    if leads():
        prepared()
    trained: dict[str, Path] = {}
    miners: dict[str, Miner] = {}
    for name, (model, start, tokens) in made.items():
        retriever = Retriever(name, model, folder, collection, recipe.collection.language)
        trained[name] = retriever.train(start, tokens, pairs, miners)
        miners[name] = Miner(name, trained[name], retriever.spec())
    return trained
