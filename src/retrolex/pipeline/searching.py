"""The stages that search: every system's run of every split, the hybrid, and what a query costs."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from retrolex.artifacts import LOGS, Stage, write_json
from retrolex.collection import Collection
from retrolex.collection.documents import Qrels
from retrolex.evaluation.runs import read_run, write_run
from retrolex.finetuning.pairs import HELD_OUT, read_pairs
from retrolex.index.base import Run
from retrolex.pipeline.recipe import Recipe
from retrolex.pipeline.stages import execute
from retrolex.progress import track
from retrolex.search.hybrid import Hybrid, equal, rescore, tune
from retrolex.search.systems import BM25System, ModelSystem, describe

TIMED = 30  # queries that are timed one by one
SYSTEMS, TIMINGS = "systems.json", "timings.json"
HELD = "held-out"  # the pseudo-queries' name as a split, used where a collection has no judgments
Question = tuple[dict[str, str], Qrels]  # queries of a split, id -> text, and their judgments


def questions(collection: Collection, split: str | None, pairs: Path) -> Question:
    """Queries and judgments of a split; of the held-out pseudo-queries when there is none."""
    if split is not None:
        qrels = collection.qrels(split)
        return {query: collection.queries[query] for query in qrels if query in collection.queries}, qrels
    held_out = read_pairs(pairs / HELD_OUT)
    return {f"pseudo-{i}": pair.query for i, pair in enumerate(held_out)}, {f"pseudo-{i}": {pair.document: 1} for i, pair in enumerate(held_out)}


def run_path(folder: Path, split: str, system: str, ids: list[str]) -> Path:
    """Where a run lies: a TREC run, or jsonl where ids hold white space."""
    suffix = "jsonl" if any(len(id.split()) != 1 or id != id.strip() for id in ids) else "trec"
    return folder / f"{split}.{system.replace(' ', '-')}.{suffix}"


def search_all(
    recipe: Recipe, folder: Path, systems: Mapping[str, BM25System | ModelSystem], asked: Mapping[str, Question], ids: list[str]
) -> dict[str, dict[str, Run]]:
    """``search/``: a run a system and split, and milliseconds a query in ``logs/``; returns split -> system -> run."""
    inputs = {"collection": folder / "collection", "pairs": folder / "pairs"} | {f"{name} index": system.folder for name, system in systems.items()}
    inputs |= {f"{name} model": system.model for name, system in systems.items() if isinstance(system, ModelSystem)}

    def work(out: Path) -> dict[str, Any]:
        (out / LOGS).mkdir(exist_ok=True)
        timings = {}
        for name, system in track(systems.items(), "Searching"):
            for split, (queries, _) in asked.items():
                path = run_path(out, split, name, [*ids, *queries])
                if not path.exists():
                    write_run(path, system.search(queries, recipe.search.depth), tag=name.replace(" ", "-"))
            timings[name] = milliseconds(system, next(iter(asked.values()))[0])
        write_json(out / LOGS / TIMINGS, timings)
        return {split: len(queries) for split, (queries, _) in asked.items()}

    config = {"depth": recipe.search.depth, "splits": list(asked), "systems": {name: describe(system, folder) for name, system in systems.items()}}
    execute(Stage("search", folder / "search", inputs, config), work)
    return {
        split: {name: read_run(run_path(folder / "search", split, name, [*ids, *queries])) for name in systems}
        for split, (queries, _) in asked.items()
    }


def milliseconds(system: BM25System | ModelSystem, queries: Mapping[str, str]) -> float:
    """Median wall-clock milliseconds of one query, text in to ten hits out, over at most TIMED queries after a first one."""
    taken = []
    for query in list(queries.items())[: TIMED + 1]:
        started = time.perf_counter()
        system.search(dict([query]), 10)
        taken.append(1000 * (time.perf_counter() - started))
    taken = sorted(taken[1:] or taken)
    return round(taken[len(taken) // 2], 3)


def fuse(
    recipe: Recipe,
    folder: Path,
    systems: Mapping[str, BM25System | ModelSystem],
    parts: Mapping[str, str],
    runs: Mapping[str, Mapping[str, Run]],
    asked: Mapping[str, Question],
    tuning: str | None,
) -> Hybrid:
    """``hybrid/``: how to fuse `parts` (part -> system), tuned on the split `tuning`, the fused runs, and what `retrolex search` opens."""

    def work(out: Path) -> dict[str, Any]:
        tried = {part: runs[tuning][system] for part, system in parts.items()} if tuning else {}
        hybrid = chosen(recipe.search.fusion, list(parts), tried, asked[tuning][1] if tuning else {}, tuning)
        for split in asked:
            fused = hybrid.fuse({part: runs[split][system] for part, system in parts.items()})
            fused = {query: hits[: recipe.search.depth] for query, hits in fused.items()}
            write_run(run_path(out, split, "hybrid", [*(d for hits in fused.values() for d, _ in hits), *fused]), fused, tag="hybrid")
        described = {part: describe(systems[system], folder) for part, system in parts.items()}
        write_json(out / SYSTEMS, {"systems": described, "hybrid": asdict(hybrid), "depth": recipe.search.depth})
        return {"method": hybrid.method, **{name: f"{weight:g}" for name, weight in hybrid.weights.items()}, "reason": hybrid.reason}

    config = {"fusion": recipe.search.fusion, "depth": recipe.search.depth, "tuning": tuning, "parts": dict(parts), "untuned": untuned(list(parts))}
    execute(Stage("hybrid", folder / "hybrid", {"search": folder / "search", "collection": folder / "collection"}, config), work)
    stated = json.loads((folder / "hybrid" / SYSTEMS).read_text(encoding="utf-8"))
    return Hybrid(**stated["hybrid"])


def chosen(fusion: str, names: list[str], runs: Mapping[str, Run], qrels: Qrels, tuning: str | None) -> Hybrid:
    """How to fuse the systems `names`.

    Args:
        fusion: as the recipe says (`recipe.Search`).
        runs, qrels: of the split `tuning`, which weights are tuned on; of no use where it is None.
    """
    stated = "as the recipe says"
    if fusion == "rrf":
        return Hybrid("rrf", dict.fromkeys(names, 1.0), stated)
    if fusion == "equal":
        return equal(names, stated)
    if fusion == "rescore":
        return rescore("lexicon", "dense", stated)
    if fusion == "ensemble":
        return equal(["lexicon", "dense"], stated, "none")
    normalization = "z" if fusion == "auto" else fusion
    if tuning:
        return tune(runs, qrels, f"the {tuning} split", normalizations=(normalization,))
    why = "equal weights: there is no dev split to tune on"
    return equal(untuned(names) if fusion == "auto" else names, why, normalization)


def untuned(names: list[str]) -> list[str]:
    """Who takes part when nothing can be tuned: BM25 and dense. A lexicon model has to prove itself on a dev split first: after a
    short training it can be far below the others (measured on cranfield: nDCG@10 .395 with it, .41 without)."""
    return [name for name in names if name != "lexicon"] if "dense" in names else names


def timings(folder: Path) -> dict[str, float]:
    """Milliseconds a query by system, as measured when the search stage ran."""
    return json.loads((folder / "search" / LOGS / TIMINGS).read_text(encoding="utf-8"))
