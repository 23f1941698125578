"""Everything that a run's folders tell together: its systems, their runs, and the table. A run makes it; a finished folder gives it back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from retrolex.artifacts import Stage, read_manifest
from retrolex.collection import Collection
from retrolex.collection.documents import Qrels
from retrolex.errors import UserError
from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.policy import Policy
from retrolex.evaluation.runs import read_run, write_run
from retrolex.evaluation.table import Results, Row, results
from retrolex.index.base import Run
from retrolex.pipeline.checks import RECIPE, check_split
from retrolex.pipeline.recipe import Evaluate, Recipe, read_recipe
from retrolex.pipeline.searching import SYSTEMS, questions, run_path, timings
from retrolex.pipeline.stages import execute
from retrolex.search.hybrid import Hybrid
from retrolex.search.systems import BM25System, ModelSystem, open_system

BASELINE, HYBRID = "BM25", "hybrid"


@dataclass(frozen=True)
class Story:
    """What one run has to tell.

    Attributes:
        recipe, folder, collection: of the run.
        found: the table.
        runs: system -> run of the measured split.
        queries, qrels: of the measured split.
        split: its name, or ``held-out``.
        hybrid: how `parts` are fused.
        parts: name in the hybrid -> system.
        systems: those that can be searched.
    """

    recipe: Recipe
    folder: Path
    collection: Collection
    found: Results
    runs: Mapping[str, Run]
    queries: Mapping[str, str]
    qrels: Qrels
    split: str
    hybrid: Hybrid
    parts: Mapping[str, str]
    systems: Mapping[str, BM25System | ModelSystem]


def tabulate(
    how: Evaluate,
    folder: Path,
    runs: Mapping[str, Run],
    qrels: Qrels,
    systems: Mapping[str, BM25System | ModelSystem],
    hybrid: Hybrid,
    parts: Mapping[str, str],
) -> Results:
    """The table of a run: every system by every measure, with what it costs, against BM25.

    Args:
        how: measures and policy.
        folder: of the run, which knows the milliseconds.
        runs: system -> run, ``hybrid`` among them.
    """
    sizes = {name: system.bytes for name, system in systems.items()}
    taken = timings(folder)
    for costs in (sizes, taken):
        costs[HYBRID] = sum(costs[parts[part]] for part in hybrid.systems)
    policy = Policy(self_hits=how.self_hits)
    rows = [Row(name, evaluate(run, qrels, how.measures, policy), sizes[name], taken[name]) for name, run in runs.items()]
    return results(rows, baseline=BASELINE)


def open_story(folder: Path) -> Story:
    """The story of a finished run.

    Raises:
        UserError: no run has come to its end here.
    """
    stages = {name: read_manifest(folder / name) for name in ("search", "hybrid", "evaluate")}
    if not all(stages.values()):
        missing = next(name for name, manifest in stages.items() if not manifest)
        raise UserError(f"no finished run here (it has no {missing}/manifest.json)", where=folder, mend="run `retrolex run` to its end first")
    recipe, collection = read_recipe(folder / RECIPE), Collection.open(folder / "collection")
    systems = {name: open_system(described, folder) for name, described in stages["search"]["config"]["systems"].items()}
    split, parts = stages["evaluate"]["config"]["split"], stages["hybrid"]["config"]["parts"]
    hybrid = Hybrid(**json.loads((folder / "hybrid" / SYSTEMS).read_text(encoding="utf-8"))["hybrid"])
    queries, qrels = questions(collection, split if split in collection.splits else None, folder / "pairs")
    runs = {name: found_run(folder / "search", split, name) for name in systems} | {HYBRID: found_run(folder / "hybrid", split, HYBRID)}
    found = tabulate(recipe.evaluate, folder, runs, qrels, systems, hybrid, parts)
    return Story(recipe, folder, collection, found, runs, queries, qrels, split, hybrid, parts, systems)


def found_run(folder: Path, split: str, system: str) -> Run:
    """A system's run, of whichever form it was written in."""
    path = run_path(folder, split, system, [])
    return read_run(path if path.exists() else path.with_suffix(".jsonl"))


def table_of(story: Story, split: str, measures: list[str]) -> Results:
    """The table of any split, by any measures. A split that the run did not measure is searched now, into ``splits/SPLIT/``.

    Raises:
        UserError: the collection has no such split, or one without answers.
    """
    how = story.recipe.evaluate.model_copy(update={"measures": measures})
    if split == story.split:
        return tabulate(how, story.folder, story.runs, story.qrels, story.systems, story.hybrid, story.parts)
    if split not in story.collection.splits:
        splits = ", ".join(story.collection.splits) or "none"
        raise UserError(f"no judgments for the split {split!r}; there are: {splits}", where=story.folder / "collection", mend="correct the split")
    check_split(story.collection, split)
    queries, qrels = questions(story.collection, split, story.folder / "pairs")
    folder = story.folder / "splits" / split

    def work(out: Path) -> dict[str, int]:
        runs = {name: system.search(queries, story.recipe.search.depth) for name, system in story.systems.items()}
        runs[HYBRID] = story.hybrid.fuse({part: runs[system] for part, system in story.parts.items()})
        for name, run in runs.items():
            ids = [*queries, *(id for hits in run.values() for id, _ in hits)]
            write_run(run_path(out, split, name, ids), run, tag=name.replace(" ", "-"))
        return {"queries": len(queries)}

    inputs = {name: story.folder / name for name in ("search", "hybrid", "collection")}
    execute(Stage(f"splits/{split}", folder, inputs, {"split": split, "depth": story.recipe.search.depth}), work)
    runs = {name: found_run(folder, split, name) for name in [*story.systems, HYBRID]}
    return tabulate(how, story.folder, runs, qrels, story.systems, story.hybrid, story.parts)
