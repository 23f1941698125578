"""A recipe's fine-tuning stages in one table, with BM25 and the starts, intervals and paired tests.

    python benchmarks/stages.py RECIPE [--output RUN] [--set key=value ...]

Every stage's model is indexed and searched in the run's own folder, RUN; stages that `retrolex finetune RECIPE` has finished are found there,
others are trained now. Figures and runs lie in RUN-stages/, and at the end RUN is what `retrolex run RECIPE` leaves. Guards are off: a row is
its stage's model.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from cells import fill, table

from retrolex.collection import Collection
from retrolex.errors import UserError
from retrolex.pipeline.command import quiet
from retrolex.pipeline.recipe import Recipe, read_recipe


def main() -> None:
    """Fill the cells that are missing, and print the table against BM25 and, a retriever each, against its start."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--output")
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    arguments = parser.parse_args()
    quiet()
    recipe = read_recipe(arguments.recipe, [*([f"output={arguments.output}"] if arguments.output else []), *arguments.overrides])
    stages = max((len(model.finetune.stages) for model in recipe.models.values() if model.finetune), default=0)
    if not stages:
        raise UserError("this recipe has no stages of fine-tuning", where=arguments.recipe, mend="write finetune: {stages: [...]}")
    out = recipe.folder.with_name(f"{recipe.folder.name}-stages")
    names = [f"stage-{number}" for number in range(1, stages + 1)]
    for number, name in enumerate(names, 1):
        rows = {"BM25": "BM25"}
        for model in recipe.models:
            rows |= {f"start {model}": f"start {model}", f"adapted {model}": f"{model}, stage {number}"}
        fill(name, up_to(recipe, number), rows, out)
    collection = Collection.open(recipe.folder / "collection")
    parts = [table(names, collection, recipe, out, "BM25")]
    there = [row.name for row in parts[0].rows]
    for model in recipe.models:
        if f"start {model}" in there:
            own = [row for row in there if row.startswith((f"start {model}", f"{model}, "))]
            parts.append(table(names, collection, recipe, out, f"start {model}", own))
    text = "\n".join(part.markdown() for part in parts)
    (out / "table.md").write_text(text, encoding="utf-8", newline="\n")
    print(text)


def up_to(recipe: Recipe, number: int) -> Recipe:
    """The recipe with its first `number` stages, unguarded."""
    models = {
        name: model.model_copy(update={"guard": False, "finetune": replace(model.finetune, stages=model.finetune.stages[:number])})
        for name, model in recipe.models.items()
        if model.finetune
    }
    return recipe.model_copy(update=models)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(str(error)) from None
