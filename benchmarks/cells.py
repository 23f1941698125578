"""Cells of a table: one run of a recipe each, in a folder that all cells share, so that what two have in common is made once.

A finished cell is one JSON with its figures and its run file; it is not run again while its recipe stays the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from retrolex.artifacts import key_of, write_json
from retrolex.collection import Collection
from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.policy import Policy
from retrolex.evaluation.runs import read_run
from retrolex.evaluation.table import Results, Row, results
from retrolex.pipeline.recipe import Recipe
from retrolex.pipeline.run import run
from retrolex.progress import say


def fill(name: str, recipe: Recipe, wanted: Mapping[str, str], out: Path) -> None:
    """Run a cell's recipe unless that has been done, and keep the figures and runs of some of its systems.

    Args:
        name: of the cell, and of its file ``OUT/NAME.json``.
        wanted: system of the run, such as ``adapted dense`` -> row of the table. One that the run has not is left out.
        out: the folder.
    """
    figure, key = out / f"{name}.json", key_of(recipe.plain())
    if figure.exists() and json.loads(figure.read_text(encoding="utf-8"))["key"] == key:
        say(f"\n== {name}: done already")
        return
    say(f"\n== {name}")
    out.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    outcome = run(recipe)
    there = [row.name for row in outcome.results.rows]
    files = {}
    for system, row in wanted.items():
        if system in there:
            (source,) = (recipe.folder / "search").glob(f"{outcome.split}.{system.replace(' ', '-')}.*")
            files[row] = f"{row.replace(' ', '-').replace(',', '')}{source.suffix}"
            (out / files[row]).write_bytes(source.read_bytes())
    records = [record for record in outcome.results.records() if record["system"] in wanted]
    seconds = round(time.perf_counter() - started, 1)
    write_json(figure, {"key": key, "split": outcome.split, "seconds": seconds, "files": files, "records": records})


def table(names: list[str], collection: Collection, recipe: Recipe, out: Path, baseline: str, rows: list[str] | None = None) -> Results:
    """The table of finished cells, every row against one, with intervals and paired tests.

    Args:
        names: the cells.
        recipe: its measures and policy.
        baseline: the row to compare with.
        rows: those of the table; None: all.
    """
    cells = [json.loads((out / f"{name}.json").read_text(encoding="utf-8")) for name in names]
    files = {row: file for cell in cells for row, file in cell["files"].items() if rows is None or row in rows}
    how, qrels = recipe.evaluate, collection.qrels(cells[0]["split"])
    measured = [Row(row, evaluate(read_run(out / file), qrels, how.measures, Policy(self_hits=how.self_hits))) for row, file in files.items()]
    return results(measured, baseline)
