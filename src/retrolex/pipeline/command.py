"""What `retrolex run` and `retrolex finetune` do around the pipeline: choose the recipe, say what was chosen, print what came of it."""

from __future__ import annotations

import sys
from pathlib import Path

from retrolex.collection.samples import SAMPLES
from retrolex.errors import UserError
from retrolex.pipeline.recipe import Recipe, make_recipe, read_recipe
from retrolex.progress import say


def run_command(path: Path | None, collection: str | None, output: str | None, overrides: list[str]) -> None:
    """Run a recipe file, or the default recipe on a collection.

    Raises:
        UserError: neither was named, or something in them needs mending.
    """
    recipe = chosen_recipe("run", path, collection, output, overrides)
    announce(recipe)
    quiet()
    from retrolex.pipeline.run import run

    outcome = run(recipe)
    from rich.console import Console

    Console().print(outcome.results.rich())
    print(f"\nReport: {outcome.report}")
    print("Next:")
    print(f'  retrolex search {outcome.folder} "{example(recipe)}"')
    if recipe.collection.source in SAMPLES:
        print("  retrolex run --collection YOUR-FOLDER")


def finetune_command(path: Path | None, collection: str | None, output: str | None, lora: int | None, overrides: list[str]) -> None:
    """Carry out a recipe up to its fine-tuned models.

    Args:
        lora: rank of adapters, for every retriever that is fine-tuned; None: as the recipe says.

    Raises:
        UserError: no recipe and no collection was named, or something in them needs mending.
    """
    recipe = chosen_recipe("finetune", path, collection, output, overrides)
    if lora:
        ranks = [f"{name}.finetune.lora={lora}" for name, model in recipe.models.items() if model.finetune]
        recipe = chosen_recipe("finetune", path, collection, output, [*overrides, *ranks])
    announce(recipe)
    quiet()
    from retrolex.pipeline.finetune_only import finetune_only

    for name, folder in finetune_only(recipe).items():
        print(f"{name}: {folder}")
    print(f"Next: retrolex run {recipe.folder / 'recipe.json'}")


def chosen_recipe(verb: str, path: Path | None, collection: str | None, output: str | None, overrides: list[str]) -> Recipe:
    """A recipe file, or the default recipe on a collection.

    Raises:
        UserError: neither was named, or something in them needs mending.
    """
    if path is None and collection is None:
        raise UserError(f"nothing to {verb}", mend=f"name a recipe, or a collection: retrolex {verb} --collection FOLDER")
    given = [item for key, value in (("collection.source", collection), ("output", output)) if value for item in [f"{key}={value}"]]
    return read_recipe(path, given + overrides) if path else make_recipe({}, given + overrides)


def announce(recipe: Recipe) -> None:
    """Say what will be done, before anything is."""
    say(f"Collection: {recipe.collection.source}\nRun folder: {recipe.folder}")
    for name, model in recipe.models.items():
        steps = [f"from {model.init}"]
        if model.pretrain:
            steps.append(f"pre-train ({model.pretrain.objective}, {model.pretrain.steps or f'{model.pretrain.epochs:g} passes, no'} steps)")
        if model.finetune:
            times = f" in {len(model.finetune.stages)} stages" if model.finetune.stages else ""
            steps.append(f"fine-tune on the collection's labels or on pseudo-queries{times}")
        if model.guard is not False and (model.pretrain or model.finetune):
            condition = "" if model.guard or name == "dense" else " (if the start makes such vectors already)"
            steps.append(f"keep whichever of start, adapted and averages of them the held-out queries prefer{condition}")
        say(f"{name}: {', '.join(steps)}")
    say("All settings: recipe.json in the run folder; change any with --set key=value.\n")


def example(recipe: Recipe) -> str:
    """A query to try."""
    return "how do I read a file line by line" if recipe.collection.source == "python-docs" else "your question"


def quiet() -> None:
    """Keep libraries' own chatter out of the progress."""
    import os
    import warnings

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    if not sys.warnoptions:
        warnings.filterwarnings("ignore", module=r"(torch|transformers|accelerate|sentence_transformers)\b")
