"""The ladder: what each objective is worth on four collections, from a plain and from tuned starts, with three seeds.

    python -m benchmarks.ladder --collections SHARED/collections --models SHARED/models --out FOLDER > tables.md

Everything is resumed where it was: models, vectors and runs that are there are not made again. The tables show what there is so far.
Two processes may share a folder, one table each; start the second when the first has begun to train, for collections are imported under a lock.
Runs do not know the plan that they were made with: after a change of plan.py, take another --out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.ladder.hybrids import best_rows, hybrid_run, reranked_run
from benchmarks.ladder.plan import ROWS, SEEDS, SPLADE, TABLES, TEACHER, TUNED, Table
from benchmarks.ladder.runs import bm25_runs, missing, model_runs, untrained_runs
from benchmarks.ladder.sources import COLLECTIONS, together, unlabelled, without_labels
from benchmarks.ladder.table import lines
from benchmarks.ladder.train import Workshop, plain_start, slug

from retrolex.collection import Collection
from retrolex.finetuning.teachers import Teacher
from retrolex.index.bm25 import BM25Index
from retrolex.pipeline.recipe import Recipe, Source
from retrolex.pipeline.stages import begun, index_bm25
from retrolex.progress import say


def main() -> None:
    """Climb, then print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, required=True, help="folder of collections in BEIR layout")
    parser.add_argument("--models", type=Path, required=True, help=f"folder with {SPLADE} and {TEACHER}")
    parser.add_argument("--out", type=Path, required=True, help="where models and runs go")
    parser.add_argument("--tables", nargs="*", choices=[table.name for table in TABLES], default=[table.name for table in TABLES])
    parser.add_argument("--seeds", nargs="*", type=int, default=list(SEEDS))
    parser.add_argument("--print-only", action="store_true", help="train nothing: the tables of what is there")
    options = parser.parse_args()
    tables = [table for table in TABLES if table.name in options.tables]
    collections = prepare(options)
    if not options.print_only:
        for seed in options.seeds:
            for table in tables:
                climb(table, seed, collections, options)
    for table in tables:
        print(f"\n### {table.name}\n")
        print("\n".join(lines([runs_folder(options.out, table, seed) for seed in options.seeds], collections)))


def prepare(options: argparse.Namespace) -> dict[str, Collection]:
    """The collections without their train judgments, imported and indexed for BM25, by name."""
    found = {}
    for name in COLLECTIONS:
        recipe = evaluated(options, name)
        with begun(recipe) as collection:
            index_bm25(recipe, recipe.folder, collection)
        found[name] = collection
    return found


def evaluated(options: argparse.Namespace, name: str) -> Recipe:
    """The recipe whose folder holds a collection as it is searched."""
    source = without_labels(options.collections, name, options.out / "sources" / name)
    return Recipe(collection=Source(source=str(source)), output=str(options.out / "collections" / name), dense=None, lexicon=None)


def runs_folder(out: Path, table: Table, seed: int) -> Path:
    """Where the runs of a table with one seed lie."""
    return out / table.name / f"runs-{seed}"


def climb(table: Table, seed: int, collections: dict[str, Collection], options: argparse.Namespace) -> None:
    """Every row of a table with one seed: train, encode, search; then the hybrids."""
    runs = runs_folder(options.out, table, seed)
    runs.mkdir(parents=True, exist_ok=True)
    for name, collection in collections.items():
        bm25_runs(runs, name, collection, BM25Index.open(options.out / "collections" / name / "bm25"))
    for workshop, names in workshops(table, seed, options):
        for row in (*ROWS, *table.controls):
            if not row.objective and not row.finetuned:
                untrained_runs(runs, slug(row.name))
            if any(missing(runs, name, collections[name], slug(row.name)) for name in names):
                say(f"\n{table.name}, seed {seed}, {', '.join(names)}: {row.name}")
                retriever, model = workshop.train(row)
                for name in names:
                    model_runs(runs, name, collections[name], slug(row.name), model, retriever.spec())
    chosen = best_rows(runs, collections)
    teacher = Teacher(options.models / TEACHER, options.out / "teacher")
    for name, collection in collections.items():
        if hybrid := hybrid_run(runs, name, collection, chosen[name]):
            say(f"hybrid, {name}: {chosen[name]}, {hybrid.weights} ({hybrid.reason})")
        reranked_run(runs, name, collection, teacher)


def workshops(table: Table, seed: int, options: argparse.Namespace) -> Iterator[tuple[Workshop, tuple[str, ...]]]:
    """Where models are trained, and the collections that each of them is measured on."""
    folder = options.out / table.name
    if table.together:
        plain = plain_start(unlabelled(options.collections, options.out / "sources" / "unlabelled"), options.out / "plain-start")
        starts = dict.fromkeys(("dense", "lexicon", "dupmae"), str(plain))
        source = together(options.collections, options.out / "sources" / "together")
        yield Workshop(table, source, folder / f"together-{seed}", seed, starts), COLLECTIONS
    else:
        starts = {"dense": TUNED, "dupmae": TUNED, "lexicon": str(options.models / SPLADE)}
        for name in COLLECTIONS:
            yield Workshop(table, options.out / "sources" / name, folder / f"{name}-{seed}", seed, starts), (name,)


if __name__ == "__main__":
    main()
