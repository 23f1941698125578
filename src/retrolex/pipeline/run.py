"""The whole pipeline from one recipe: text in, measured search out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrolex.artifacts import Stage
from retrolex.collection import Collection
from retrolex.evaluation.table import Results
from retrolex.pipeline.checks import check_documents
from retrolex.pipeline.finetuning import Miner
from retrolex.pipeline.model import Retriever
from retrolex.pipeline.recipe import Recipe
from retrolex.pipeline.reporting import report
from retrolex.pipeline.searching import HELD, fuse, questions, search_all
from retrolex.pipeline.stages import begun, evaluated_splits, execute, index_bm25, prepare_model, prepare_pairs
from retrolex.pipeline.story import BASELINE, HYBRID, Story, found_run, tabulate
from retrolex.progress import say
from retrolex.search.systems import BM25System, ModelSystem

FEW = 20  # queries below which bootstrap intervals are too narrow


@dataclass(frozen=True)
class Outcome:
    """What a run ends with.

    Attributes:
        folder: the run's folder.
        results: the table: systems by measures, with intervals and comparison to BM25.
        split: what was measured: a split's name, or ``held-out`` pseudo-queries.
        report: the HTML file.
    """

    folder: Path
    results: Results
    split: str
    report: Path


def run(recipe: Recipe) -> Outcome:
    """Carry out a recipe. Stages that are up to date are skipped; a killed run continues where it was.

    Raises:
        UserError: something in the source or the recipe that its owner has to mend.
    """
    with begun(recipe) as collection:
        return carry_out(recipe, recipe.folder, collection)


def say_what_measures(split: str, queries: int) -> None:
    """Tell the reader what the figures will be worth."""
    if split == HELD:
        say(f"\nNo judgments: measured with {queries:,} queries cut from held-out documents, which are easier and less telling than real questions.")
    if queries < FEW:
        say(f"Only {queries} queries: whatever the table shows, they cannot tell systems apart.")


def carry_out(recipe: Recipe, folder: Path, collection: Collection) -> Outcome:
    """Everything after reading the collection; see `run`."""
    check_documents(recipe, collection)
    split, dev = evaluated_splits(recipe, collection)
    bm25 = index_bm25(recipe, folder, collection)
    pairs = prepare_pairs(recipe, folder, collection, bm25, dev)

    systems: dict[str, BM25System | ModelSystem] = {BASELINE: BM25System(folder / "bm25")}
    parts = {"bm25": BASELINE}
    miners: dict[str, Miner] = {}
    for name in recipe.models:
        systems |= retrieve(recipe, name, collection, pairs, miners)
        parts[name] = f"adapted {name}" if f"adapted {name}" in systems else f"start {name}"

    measured = split or HELD
    asked = {measured: questions(collection, split, pairs)} | ({dev: questions(collection, dev, pairs)} if dev else {})
    say_what_measures(measured, len(asked[measured][0]))
    runs = search_all(recipe, folder, systems, asked, collection.ids)
    hybrid = fuse(recipe, folder, systems, parts, runs, asked, dev)
    queries, qrels = asked[measured]
    runs = {**runs[measured], HYBRID: found_run(folder / "hybrid", measured, HYBRID)}
    found = tabulate(recipe.evaluate, folder, runs, qrels, systems, hybrid, parts)

    def save(out: Path) -> dict[str, Any]:
        (out / "results.md").write_text(found.markdown(), encoding="utf-8", newline="\n")
        (out / "results.csv").write_text(found.csv(), encoding="utf-8", newline="\n")
        (out / "results.json").write_text(found.json(), encoding="utf-8", newline="\n")
        return {row.name: f"{row.evaluation.mean(found.measures[0]):.3f}" for row in found.rows}

    inputs = {"search": folder / "search", "hybrid": folder / "hybrid", "collection": folder / "collection"}
    config = {**recipe.evaluate.model_dump(mode="json"), "split": measured, "systems": list(runs)}
    execute(Stage("evaluate", folder / "evaluate", inputs, config), save)
    story = Story(recipe, folder, collection, found, runs, queries, qrels, measured, hybrid, parts, systems)
    return Outcome(folder, found, measured, report(story))


def retrieve(recipe: Recipe, name: str, collection: Collection, pairs: Path, miners: dict[str, Miner]) -> dict[str, ModelSystem]:
    """Adapt one retriever and index the collection with it, and with its start where that is a retriever already.

    Args:
        miners: models of earlier retrievers, which this one may mine its negatives with; this one's is added.
    """
    model = recipe.models[name]
    say(f"\n{name}: from {model.init}" + "".join(f", {step}" for step in ("pretrain", "finetune") if getattr(model, step)))
    model, start, tokens = prepare_model(recipe, name, recipe.folder, collection)
    retriever = Retriever(name, model, recipe.folder, collection, recipe.collection.language)
    trained = retriever.train(start, tokens, pairs, miners)
    miners[name] = Miner(name, trained, retriever.spec())
    adapted = retriever.guarded(start, trained, pairs)
    systems = {}
    if adapted == start or retriever.start_retrieves(start):
        systems[f"start {name}"] = ModelSystem(name, start, retriever.index(start, "start"))
    if adapted != start:
        kept = f"start {name}" in systems and retriever.kept_start(adapted)
        systems[f"adapted {name}"] = ModelSystem(name, adapted, systems[f"start {name}"].folder if kept else retriever.index(adapted))
    return systems
