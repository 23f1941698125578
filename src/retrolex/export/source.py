"""What an export starts from: a model folder, or one retriever of a finished run."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from retrolex.backbones.spec import FILE, Spec, read_spec
from retrolex.errors import UserError

SYSTEMS = "hybrid/systems.json"  # what a finished run says of its retrievers


@dataclass(frozen=True)
class Source:
    """A model, and what is known about it.

    Attributes:
        model: its folder.
        spec: how its vectors are made, with the representation that is exported.
        run: the run that it is part of; None for a model folder on its own.
        index: the retriever's index in that run.
        figures: the run's table, in Markdown; empty where nothing was measured.
    """

    model: Path
    spec: Spec
    run: Path | None = None
    index: Path | None = None
    figures: str = ""


def open_source(folder: Path, system: str | None = None) -> Source:
    """Find the model.

    Args:
        folder: a model folder, or one that `retrolex run` wrote.
        system: which retriever of a run: ``dense`` or ``lexicon``; needed where it has both.

    Raises:
        UserError: the folder is neither, or the run has no such retriever.
    """
    if (folder / FILE).exists():
        if system not in (None, read_spec(folder).representation):
            raise UserError(f"this model is {read_spec(folder).representation}, not {system}", where=folder, mend="leave --system out")
        return Source(folder, read_spec(folder))
    if not (folder / SYSTEMS).exists():
        raise UserError(
            "neither a model folder nor a finished run", where=folder, mend=f"name a folder with {FILE}, or run `retrolex run` to its end"
        )
    systems = json.loads((folder / SYSTEMS).read_text(encoding="utf-8"))["systems"]
    models = {name: described for name, described in systems.items() if "model" in described}
    if system is None and len(models) == 1:
        system = next(iter(models))
    if system not in models:
        wanted = f"no retriever {system!r} with a model" if system else "this run has more than one model"
        raise UserError(wanted, where=folder, mend=f"choose with --system: {', '.join(models)}")
    described = models[system]
    spec = spec_of(folder / described["model"], folder, system)
    return Source(folder / described["model"], spec, folder, folder / described["index"], figures_of(folder))


def spec_of(model: Path, run: Path, system: str) -> Spec:
    """The model's own spec, with the lengths that the run encoded with."""
    recipe = json.loads((run / "recipe.json").read_text(encoding="utf-8"))[system]
    stated = {name: recipe[name] for name in ("document_length", "query_length") if recipe.get(name)}
    return replace(read_spec(model), representation=system, **stated)


def figures_of(run: Path) -> str:
    """The run's table in Markdown; empty where it has none."""
    path = run / "evaluate" / "results.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""
