"""Expected figures: run a recipe on the collections that they are about, or find its finished run, and hold what was measured against them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from retrolex.artifacts import read_manifest
from retrolex.collection.readers.sample import SAMPLES
from retrolex.errors import UserError
from retrolex.evaluation.measures import canonical
from retrolex.evaluation.significance import Interval
from retrolex.pipeline.checks import RECIPE
from retrolex.pipeline.recipe import Expected, Recipe, read_recipe
from retrolex.pipeline.reporting import flat
from retrolex.pipeline.story import open_story, table_of
from retrolex.progress import say

OWN = ("output", "expected", "collection")  # keys that do not decide what a run computes, once its collection is read


@dataclass(frozen=True)
class Verdict:
    """An expected figure and what was measured.

    Attributes:
        collection: where.
        expected: the figure.
        measured: average and 95% interval.
    """

    collection: str
    expected: Expected
    measured: Interval

    @property
    def missed(self) -> bool:
        """Whether the measured average lies below what is expected by more than the tolerance."""
        return self.measured.mean < self.expected.value - self.expected.tolerance

    def word(self) -> str:
        """``missed``, ``reached`` or, beyond the tolerance, ``above``."""
        return "missed" if self.missed else "above" if self.measured.mean > self.expected.value + self.expected.tolerance else "reached"


def reproduce(
    path: Path, data: Path | None = None, output: Path | None = None, overrides: Iterable[str] = (), over: Path | None = None
) -> list[Verdict]:
    """Every expected figure of a recipe, held against a run of it.

    Args:
        path: the recipe.
        data: folder below which its collections are; one that comes with retrolex needs none.
        output: of the run, in place of the recipe's; of several collections, each has a folder of its own in it.
        overrides: ``dotted.key=value`` items.
        over: a YAML file whose keys replace the recipe's, such as ``recipes/one-gpu/lexmae.yaml``.

    Raises:
        UserError: the recipe states no figure, a collection is not there, or a figure is about a system, a split or a measure that there is not.
    """
    recipe = read_recipe(path, [*(keys_of(over) if over else ()), *overrides])
    if not recipe.expected:
        raise UserError("this recipe states no expected figures", where=path, mend="add a section 'expected', or use `retrolex run`")
    for expected in recipe.expected:
        canonical(expected.measure)
    recipes = {name: placed(recipe, name, data, output) for name in dict.fromkeys(expected.collection for expected in recipe.expected)}
    return [verdict for name, one in recipes.items() for verdict in verdicts(one, [e for e in recipe.expected if e.collection == name])]


def keys_of(path: Path) -> Iterator[str]:
    """A YAML file's keys as ``dotted.key=value`` items.

    Raises:
        UserError: no such file, or one without keys.
    """
    try:
        stated = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"not YAML that can be read: {error}", where=path, mend="name a YAML file with some of a recipe's keys") from None
    if not isinstance(stated, dict):
        raise UserError("expected keys and values", where=path, mend="name a YAML file with some of a recipe's keys")
    return (f"{key}={json.dumps(value)}" for key, value in flat(stated).items())


def placed(recipe: Recipe, collection: str | None, data: Path | None, output: Path | None) -> Recipe:
    """The recipe for one of its collections, found below `data`, with the run's folder.

    Raises:
        UserError: the collection is not there.
    """
    source = collection or recipe.collection.source
    base = output or Path(recipe.folder)
    if source not in SAMPLES:
        if data is None:
            raise UserError(f"the collection {source!r} does not come with retrolex", mend="say with --data in which folder it is")
        if not (data / source).exists():
            raise UserError(f"no collection {source!r} here", where=data, mend=f"put it into {data / source}")
        source = str(data / source)
    return recipe.model_copy(
        update={
            "collection": recipe.collection.model_copy(update={"source": source}),
            "output": str(base / collection if collection else base),
            "expected": [expected for expected in recipe.expected if expected.collection == collection],
        }
    )


def finished(recipe: Recipe) -> bool:
    """Whether the run's folder holds a finished run."""
    return (recipe.folder / RECIPE).exists() and all(read_manifest(recipe.folder / stage) for stage in ("search", "hybrid", "evaluate"))


def differing(recipe: Recipe) -> list[str]:
    """Dotted keys in which the settings of the run in the folder are not the recipe's.

    A key that did not exist when the run was made stands at its default, as it does for whoever opens that run.
    """
    made = read_recipe(recipe.folder / RECIPE)
    collections = [Path(one.collection.source).name for one in (made, recipe)]
    ours, theirs = (flat({key: value for key, value in one.plain().items() if key not in OWN}) for one in (recipe, made))
    return ["collection.source"] * (collections[0] != collections[1]) + sorted(key for key in ours | theirs if ours.get(key) != theirs.get(key))


def verdicts(recipe: Recipe, expected: list[Expected]) -> Iterator[Verdict]:
    """Run one collection's recipe where it has not been, and look every figure up, split by split.

    Raises:
        UserError: there is no such system or split.
    """
    others = differing(recipe) if finished(recipe) else []
    if finished(recipe) and not others:
        say(f"Finished run: {recipe.folder}")
    else:
        if others:
            say(f"The run in {recipe.folder} was made with other settings ({', '.join(others[:5])}{', …' * (len(others) > 5)}), so it runs again")
        from retrolex.pipeline.run import run

        run(recipe)
    story = open_story(recipe.folder)
    for split in dict.fromkeys(figure.split for figure in expected):
        figures = [figure for figure in expected if figure.split == split]
        found = table_of(story, split, list(dict.fromkeys(figure.measure for figure in figures)))
        for figure in figures:
            if figure.system not in found.intervals:
                raise UserError(f"no system is called {figure.system!r}", where="expected", mend=f"choose one of {', '.join(found.intervals)}")
            measured = found.intervals[figure.system][canonical(figure.measure)]
            yield Verdict(Path(recipe.collection.source).name, figure, measured)


def show(found: Iterable[Verdict]) -> None:
    """Print the table, and how many figures were missed."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    found = list(found)
    table = Table(caption="Brackets: 95% bootstrap intervals over queries. Missed: below the expected figure by more than the tolerance.")
    for title, where in (("Collection", "left"), ("System", "left"), ("Measure", "left"), ("Expected", "right"), ("Measured", "right")):
        table.add_column(title, justify=where, overflow="fold")
    table.add_column("Verdict", no_wrap=True)
    table.add_column("Source", overflow="fold")
    for verdict in found:
        expected, (mean, low, high) = verdict.expected, verdict.measured
        table.add_row(
            f"{verdict.collection} ({expected.split})",
            expected.system,
            canonical(expected.measure),
            f"{expected.value:.3f} ± {expected.tolerance:.3f}",
            f"{mean:.3f} [{low:.3f}, {high:.3f}]",
            verdict.word(),
            escape(expected.source),
        )
    Console().print(table)
    missed = sum(verdict.missed for verdict in found)
    print(f"{len(found) - missed} of {len(found)} expected figures reached" + (f", {missed} missed" if missed else ""))
