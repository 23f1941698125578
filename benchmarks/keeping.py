"""Ways to adapt a start that is tuned for retrieval already, without losing what it knows: one table of them, against the start.

    python benchmarks/keeping.py COLLECTION --out FOLDER [--only dense] [--ways adapted kept] [--steps 60]

COLLECTION is a folder with judgments. Dense rows start from the packaged `minilm`; lexicon rows from `splade-tiny-mlm`, and taught rows learn from
`ms-marco-MiniLM-L-12-v2`, both looked for in --models, and left out where they are not. One budget for all: --steps of pre-training (4,096 tokens,
learning rate 5e-5) and as many of fine-tuning (32 pseudo-queries or labels, 3 hard negatives each, 2e-5; ten times that for adapters). Each
way is one line of the recipe, printed with the table. A cell that is done is not done again; a killed one goes on where it was.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from cells import fill, table

from retrolex.collection import Collection
from retrolex.errors import UserError
from retrolex.pipeline.command import quiet
from retrolex.pipeline.recipe import Recipe, make_recipe
from retrolex.starts import packaged_start

OBJECTIVES = {"dense": "retromae", "lexicon": "lexmae"}
START, TEACHER = "splade-tiny-mlm", "ms-marco-MiniLM-L-12-v2"
TUNE_ONLY, AVERAGE, KEEP = ["pretrain=null"], ["guard=true"], ["pretrain.options.keep_start=10.0"]
LORA, TAUGHT = ["finetune.lora=8", "finetune.learning_rate=2.0e-4"], ["finetune.stages=[{teacher: TEACHER}]"]
# The pipeline's scale and FLOPS for lexicon vectors, in place of the papers' 1 and .002.
GENTLE = ["finetune.scale=0.05", "finetune.flops=0.001"]
# Cells that share a stage stand one after the other: the second finds it done.
WAYS = {
    "adapted": [],
    "adapted, averaged": AVERAGE,
    "adapted, LoRA": LORA,
    "adapted, taught": TAUGHT,
    "kept lightly": ["pretrain.options.keep_start=1.0"],
    "kept": KEEP,
    "kept, averaged": KEEP + AVERAGE,
    "kept, taught": KEEP + TAUGHT,
    "kept, taught, averaged": KEEP + TAUGHT + AVERAGE,
    "tuned": TUNE_ONLY,
    "tuned, averaged": TUNE_ONLY + AVERAGE,
    "tuned, LoRA": TUNE_ONLY + LORA,
    "tuned, taught": TUNE_ONLY + TAUGHT,
    "tuned, taught, averaged": TUNE_ONLY + TAUGHT + AVERAGE,
    "kept, gentle": KEEP + GENTLE,
    "tuned, gentle": TUNE_ONLY + GENTLE,
    "tuned, gentle, averaged": TUNE_ONLY + GENTLE + AVERAGE,
    "tuned, taught, gentle": TUNE_ONLY + TAUGHT + GENTLE,
}


def main() -> None:
    """Fill the cells that are missing, and print a table a representation."""
    arguments = parsed()
    quiet()
    for name in arguments.only or OBJECTIVES:
        init = "minilm" if name == "dense" else str(arguments.models / START)
        if not (Path(packaged_start(init) or "") if init == "minilm" else Path(init)).is_dir():
            print(f"{name}: no start {init}, left out")
            continue
        out = arguments.out / name
        ways = {way: WAYS[way] for way in arguments.ways or WAYS if name == "lexicon" or not set(GENTLE) <= set(WAYS[way])}
        ways = {way: lines for way, lines in ways.items() if (arguments.models / TEACHER).is_dir() or not set(TAUGHT) <= set(lines)}
        recipes = {way: recipe_of(arguments, name, init, lines) for way, lines in ways.items()}
        for way, recipe in recipes.items():
            fill(cell_of(way), recipe, {"BM25": "BM25", f"start {name}": "start", f"adapted {name}": way}, out)
        collection = Collection.open(out / "run" / "collection")
        found = table([*map(cell_of, ways)], collection, next(iter(recipes.values())), out, "start").markdown()
        told = "".join(f"- {way}: {' '.join(f'`{name}.{line}`' for line in lines) or 'naively'}\n" for way, lines in ways.items())
        text = f"## {name}, from {Path(init).name}\n\n{found}\n{told}"
        (arguments.out / f"{name}.md").write_text(text, encoding="utf-8", newline="\n")
        print(text)


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", choices=list(OBJECTIVES))
    parser.add_argument("--ways", nargs="*", choices=list(WAYS), help="all of them by default")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--pairs", type=int, default=1000, help="training pairs; a teacher reads each of them four times")
    parser.add_argument("--models", type=Path, help="folder of the lexicon start and the teacher; $RETROLEX_SHARED/models, or beside the collections")
    arguments = parser.parse_args()
    shared = os.environ.get("RETROLEX_SHARED")
    arguments.models = arguments.models or (Path(shared) if shared else arguments.collection.resolve().parents[1]) / "models"
    return arguments


def cell_of(way: str) -> str:
    """Name of a way's cell."""
    return way.replace(", ", "-").replace(" ", "-")


def recipe_of(arguments: argparse.Namespace, name: str, init: str, lines: list[str]) -> Recipe:
    """The common recipe with one way's lines."""
    steps = arguments.steps
    training = {
        "init": init,
        "document_length": 128,
        "query_length": 64,
        "guard": False,
        "pretrain": {"objective": OBJECTIVES[name], "tokens_per_batch": 4096, "steps": steps, "learning_rate": 5e-5, "probe_every": steps},
        "finetune": {"steps": steps, "queries": 32, "hard": 3, "learning_rate": 2e-5, "dropout": 0.0, "stages": ["bm25"]},
    }
    stated = {
        "collection": {"source": str(arguments.collection)},
        "output": str(arguments.out / name / "run"),
        "pairs": {"count": arguments.pairs},
        "dense": None,
        "lexicon": None,
        name: training,
        "evaluate": {"measures": ["nDCG@10", "RR@10", "R@100"]},
    }
    return make_recipe(stated, [f"{name}.{line}".replace("TEACHER", str(arguments.models / TEACHER)) for line in lines])


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(str(error)) from None
