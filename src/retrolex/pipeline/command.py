"""What `retrolex run` does around the pipeline: choose the recipe, say what was chosen, print the table."""

from __future__ import annotations

import sys
from pathlib import Path

from retrolex.errors import UserError
from retrolex.pipeline.recipe import Recipe, make_recipe, read_recipe
from retrolex.progress import say


def run_command(path: Path | None, collection: str | None, output: str | None, overrides: list[str]) -> None:
    """Run a recipe file, or the default recipe on a collection.

    Raises:
        UserError: neither was named, or something in them needs mending.
    """
    if path is None and collection is None:
        raise UserError("nothing to run", mend="name a recipe, or a collection: retrolex run --collection FOLDER")
    given = [item for key, value in (("collection.source", collection), ("output", output)) if value for item in [f"{key}={value}"]]
    recipe = read_recipe(path, given + overrides) if path else make_recipe({}, given + overrides)
    announce(recipe)
    quiet()
    from retrolex.pipeline.run import run

    outcome = run(recipe)
    from rich.console import Console

    Console().print(outcome.results.rich())
    print(f"\nReport: {outcome.report}")
    print("Next:")
    print(f'  retrolex search {outcome.folder} "{example(recipe)}"')
    print("  retrolex run --collection YOUR-FOLDER")


def announce(recipe: Recipe) -> None:
    """Say what will be done, before anything is."""
    say(f"Collection: {recipe.collection.source}\nRun folder: {recipe.folder}")
    for name, model in (("dense", recipe.dense), ("lexicon", recipe.lexicon)):
        if model is None:
            continue
        steps = [f"from {model.init}"]
        if model.pretrain:
            steps.append(f"pre-train ({model.pretrain.objective}, {model.pretrain.steps or f'{model.pretrain.epochs:g} passes, no'} steps)")
        if model.finetune:
            steps.append("fine-tune on the collection's labels or on pseudo-queries")
        if model.guard:
            steps.append("keep whichever of start, adapted and averages of them the held-out queries prefer")
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
