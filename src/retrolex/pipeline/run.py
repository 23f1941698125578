"""The whole pipeline from one recipe: text in, measured search out."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrolex.artifacts import Stage, write_json
from retrolex.collection import Collection
from retrolex.errors import UserError
from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.policy import Policy
from retrolex.evaluation.runs import read_run
from retrolex.evaluation.table import Results, Row, results
from retrolex.pipeline.checks import RECIPE, alone, check
from retrolex.pipeline.model import Retriever
from retrolex.pipeline.recipe import Model, Recipe
from retrolex.pipeline.reporting import Story, write_report
from retrolex.pipeline.searching import HELD, fuse, questions, run_path, search_all, timings
from retrolex.pipeline.stages import collect, evaluated_splits, execute, index_bm25, make_tokens, prepare_pairs, prepare_start
from retrolex.progress import say
from retrolex.search.systems import BM25System, ModelSystem

BASELINE = "BM25"


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
    check(recipe)
    made = not recipe.folder.exists()
    with alone(recipe.folder):
        write_json(recipe.folder / RECIPE, recipe.plain())
        try:
            collection = collect(recipe, recipe.folder)
        except UserError:
            if made:
                shutil.rmtree(recipe.folder)
            raise
        return carry_out(recipe, recipe.folder, collection)


def carry_out(recipe: Recipe, folder: Path, collection: Collection) -> Outcome:
    """Everything after reading the collection; see `run`."""
    split, dev = evaluated_splits(recipe, collection)
    bm25 = index_bm25(recipe, folder, collection)
    pairs = prepare_pairs(recipe, folder, collection, bm25, dev)

    systems: dict[str, BM25System | ModelSystem] = {BASELINE: BM25System(folder / "bm25")}
    parts = {"bm25": BASELINE}
    for name, model in (("dense", recipe.dense), ("lexicon", recipe.lexicon)):
        if model is not None:
            systems |= retrieve(name, model, folder, collection, pairs)
            parts[name] = f"adapted {name}" if f"adapted {name}" in systems else f"start {name}"

    measured = split or HELD
    asked = {measured: questions(collection, split, pairs)} | ({dev: questions(collection, dev, pairs)} if dev else {})
    runs = search_all(recipe, folder, systems, asked, collection.ids)
    hybrid = fuse(recipe, folder, systems, parts, runs, asked, dev)
    queries, qrels = asked[measured]
    runs = dict(runs[measured])
    runs["hybrid"] = read_run(run_path(folder / "hybrid", measured, "hybrid", [*(d for hits in runs[BASELINE].values() for d, _ in hits), *queries]))

    policy = Policy(self_hits=recipe.evaluate.self_hits)
    evaluations = {name: evaluate(found, qrels, recipe.evaluate.measures, policy) for name, found in runs.items()}
    bytes_ = {name: system.bytes for name, system in systems.items()}
    bytes_["hybrid"] = sum(bytes_[parts[part]] for part in hybrid.systems)
    taken = timings(folder)
    taken["hybrid"] = sum(taken[parts[part]] for part in hybrid.systems)
    found = results([Row(name, evaluation, bytes_[name], taken[name]) for name, evaluation in evaluations.items()], baseline=BASELINE)

    def save(out: Path) -> dict[str, Any]:
        (out / "results.md").write_text(found.markdown(), encoding="utf-8")
        (out / "results.csv").write_text(found.csv(), encoding="utf-8")
        (out / "results.json").write_text(found.json(), encoding="utf-8")
        return {name: f"{evaluation.mean(evaluation.measures[0]):.3f}" for name, evaluation in evaluations.items()}

    inputs = {"search": folder / "search", "hybrid": folder / "hybrid", "collection": folder / "collection"}
    config = {"split": measured, **recipe.evaluate.model_dump(mode="json"), "systems": list(runs)}
    execute(Stage("evaluate", folder / "evaluate", inputs, config), save)
    story = Story(recipe, folder, collection, found, runs, queries, qrels, measured, hybrid, systems)
    execute(
        Stage("report", folder / "report", {"evaluate": folder / "evaluate", "hybrid": folder / "hybrid"}, recipe.plain()),
        lambda out: write_report(story, out),
    )
    return Outcome(folder, found, measured, folder / "report" / "report.html")


def retrieve(name: str, model: Model, folder: Path, collection: Any, pairs: Path) -> dict[str, ModelSystem]:
    """Adapt one retriever and index the collection with it, and with its start where that is a retriever already."""
    say(f"\n{name}: from {model.init}" + "".join(f", {step}" for step in ("pretrain", "finetune") if getattr(model, step)))
    retriever = Retriever(name, model, folder, collection)
    tokens = make_tokens(folder, collection, model.init)
    start = prepare_start(folder, collection, model.init, tokens)
    adapted = retriever.adapt(start, tokens, pairs)
    systems = {}
    if adapted == start or retriever.start_retrieves(start):
        systems[f"start {name}"] = ModelSystem(name, start, retriever.index(start, "start"))
    if adapted != start:
        kept = f"start {name}" in systems and retriever.kept_start(adapted)
        systems[f"adapted {name}"] = ModelSystem(name, adapted, systems[f"start {name}"].folder if kept else retriever.index(adapted))
    return systems
