"""What ``retrolex evaluate`` and ``retrolex compare`` do: files in, results out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from retrolex.errors import UserError
from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.measures import DEFAULT_MEASURES
from retrolex.evaluation.policy import Policy
from retrolex.evaluation.presets import preset
from retrolex.evaluation.runs import read_qrels, read_run
from retrolex.evaluation.table import Results, Row, results

SUFFIXES = {".md": "markdown", ".csv": "csv", ".json": "json"}


def settings(measures: Iterable[str] | None = None, preset_name: str | None = None, **changes: object) -> tuple[list[str], Policy]:
    """Measures and policy of a preset (or the defaults), with what the user set on the command line put over them.

    Args:
        measures: names; None or none means the preset's.
        preset_name: msmarco-passage, msmarco-document, trec-dl, beir, or None.
        changes: fields of `Policy`; None leaves the preset's value.
    """
    from dataclasses import replace

    names, policy, _ = preset(preset_name) if preset_name else (DEFAULT_MEASURES, Policy(), "")
    return list(measures or names), replace(policy, **{key: value for key, value in changes.items() if value is not None})


def evaluate_files(run_path: Path, qrels_path: Path, measures: Iterable[str] = DEFAULT_MEASURES, policy: Policy | None = None) -> Results:
    """Measure one run file against a file of judgments."""
    return compare_files([run_path], qrels_path, measures, policy)


def compare_files(
    run_paths: Sequence[Path],
    qrels_path: Path,
    measures: Iterable[str] = DEFAULT_MEASURES,
    policy: Policy | None = None,
    baseline: str | None = None,
) -> Results:
    """Measure several run files and compare them with one; rows are called after the files.

    Args:
        run_paths: files in any format of `retrolex.evaluation.runs`.
        qrels_path: BEIR or TREC judgments.
        measures: names in the grammar of ir_measures, or aliases.
        policy: the default one when None.
        baseline: name of the row to compare with; the first run when None.

    Raises:
        UserError: a file cannot be read, or two files have the same name.
    """
    qrels, measures = read_qrels(qrels_path), list(measures)
    names = row_names([Path(path) for path in run_paths])
    rows = [Row(name, evaluate(read_run(path), qrels, measures, policy)) for name, path in zip(names, run_paths, strict=True)]
    return results(rows, baseline)


def row_names(paths: Sequence[Path]) -> list[str]:
    """File names without their endings; whole paths where that would call two rows the same."""
    stems = [path.name.removesuffix(".gz").rsplit(".", 1)[0] for path in paths]
    names = stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
    if len(set(names)) < len(names):
        raise UserError("the same run is given twice", where=paths[0], mend="name every run once")
    return names


def save(found: Results, path: Path) -> None:
    """Write results to a ``.md``, ``.csv`` or ``.json`` file, by its ending.

    Raises:
        UserError: another ending, or no such folder.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise UserError(f"cannot write results as {path.suffix or 'a file without an ending'}", where=path, mend=f"end it in {', '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise UserError("no such folder", where=path.parent, mend="make it first, or write somewhere else")
    path.write_text(getattr(found, SUFFIXES[path.suffix])(), encoding="utf-8", newline="\n")


def show(found: Results) -> None:
    """Print the table, and of every other system the verdict against the baseline by the first measure."""
    from rich.console import Console

    console = Console()
    console.print(found.rich())
    for difference in found.comparison.differences if found.comparison else ():
        if difference.measure == found.measures[0]:
            console.print(difference.verdict(), highlight=False, markup=False, soft_wrap=True)
