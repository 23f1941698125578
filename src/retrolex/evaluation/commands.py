"""What ``retrolex evaluate`` and ``retrolex compare`` do: files in, results out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from retrolex.errors import UserError
from retrolex.evaluation.evaluate import Evaluation, evaluate
from retrolex.evaluation.measures import DEFAULT_MEASURES, split_names
from retrolex.evaluation.policy import Policy
from retrolex.evaluation.presets import preset
from retrolex.evaluation.runs import read_qrels, read_run
from retrolex.evaluation.table import Results, Row, results

if TYPE_CHECKING:
    from retrolex.collection.documents import Qrels
    from retrolex.index.base import Run

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
        UserError: a file cannot be read, two files have the same name, or a run has none of the judged queries.
    """
    qrels, measures = read_qrels(qrels_path), list(measures)
    names = row_names([Path(path) for path in run_paths])
    found = [evaluate(about(read_run(path), qrels, path), qrels, measures, policy) for path in run_paths]
    if policy is not None and policy.missing == "exclude":
        found = shared(found)
    return results([Row(name, evaluation) for name, evaluation in zip(names, found, strict=True)], baseline)


def about(run: Run, qrels: Qrels, path: Path) -> Run:
    """The run, when it is about some of the judged queries, or empty.

    Raises:
        UserError: not a query is judged: these are the judgments of something else, and all measures would be 0.
    """
    if run and qrels.keys().isdisjoint(run):
        what = f"run and judgments have no query in common: the run has {next(iter(run))!r}, the judgments {next(iter(qrels))!r}"
        raise UserError(what, where=path, mend="name the judgments of the run's queries")
    return run


def shared(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """The evaluations over the queries that all of them measured, so that their averages can be compared.

    Raises:
        UserError: there is no such query.
    """
    common = set.intersection(*(set(evaluation.queries) for evaluation in evaluations))
    if not common:
        raise UserError("no query has a hit in every run", mend="let queries without a hit count 0 (--missing zero)")
    return [evaluation.only(common) for evaluation in evaluations]


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
    check_savable(path)
    path.write_text(getattr(found, SUFFIXES[path.suffix])(), encoding="utf-8", newline="\n")


def check_savable(path: Path, suffixes: Iterable[str] = tuple(SUFFIXES)) -> None:
    """Refuse a file that could not be written, before anything is computed.

    Raises:
        UserError: another ending than those, or no such folder.
    """
    if path.suffix not in suffixes:
        raise UserError(f"cannot write results as {path.suffix or 'a file without an ending'}", where=path, mend=f"end it in {', '.join(suffixes)}")
    if not path.parent.is_dir():
        raise UserError("no such folder", where=path.parent, mend="make it first, or write somewhere else")


def save_per_query(found: Results, path: Path) -> None:
    """Write the value of every query, system and measure, and its change against the baseline, to a ``.csv`` file.

    Raises:
        UserError: another ending, or no such folder.
    """
    check_savable(Path(path), (".csv",))
    Path(path).write_text(found.per_query(), encoding="utf-8", newline="\n")


def measure_command(
    runs: Sequence[Path],
    qrels: Path,
    measures: str | None,
    preset_name: str | None,
    save_to: Path | None,
    per_query: Path | None,
    **changes: object,
) -> None:
    """Measure, print and save: all of ``retrolex evaluate`` and ``retrolex compare``.

    Args:
        runs: run files, the baseline first.
        qrels: judgments.
        measures: names, separated by spaces or commas.
        preset_name, changes: see `settings`.
        save_to, per_query: where to write the table, and the values query by query.
    """
    if save_to:
        check_savable(save_to)
    if per_query:
        check_savable(per_query, (".csv",))
    found = compare_files(runs, qrels, *settings(split_names(measures) if measures else None, preset_name, **changes))
    show(found)
    if save_to:
        save(found, save_to)
    if per_query:
        save_per_query(found, per_query)


def show(found: Results) -> None:
    """Print the table, the differences from the baseline, and of every other system the verdict by the first measure."""
    from rich.console import Console

    console = Console()
    console.print(found.rich())
    if found.comparison:
        console.print(found.rich_differences())
    for difference in found.comparison.differences if found.comparison else ():
        if difference.measure == found.measures[0]:
            console.print(difference.verdict(), highlight=False, markup=False, soft_wrap=True)
