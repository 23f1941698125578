"""`retrolex reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex reproduce recipes/python-docs.yaml`")
def reproduce(
    recipe: Annotated[Path, typer.Argument(help="A recipe that states expected figures.")],
    data: Annotated[Optional[Path], typer.Option(help="The folder in which its collections are.", show_default=False)] = None,  # noqa: UP045
    over: Annotated[Optional[Path], typer.Option(help="A YAML file whose keys replace the recipe's.", show_default=False)] = None,  # noqa: UP045
    output: Annotated[Optional[Path], typer.Option(help="Where the run is, or will be; the recipe's own place when not given.")] = None,  # noqa: UP045
    set_: Annotated[Optional[list[str]], typer.Option("--set", help="Override one key of the recipe, as key=value; repeatable.")] = None,  # noqa: UP045
) -> None:
    """Run a recipe, or find its finished run, and check every figure it must reach; exit code 1 when one is missed."""
    from retrolex.pipeline.command import quiet
    from retrolex.pipeline.reproduce import reproduce as check
    from retrolex.pipeline.reproduce import show

    quiet()
    verdicts = check(recipe, data, output, set_ or [], over)
    show(verdicts)
    if any(verdict.missed for verdict in verdicts):
        raise typer.Exit(1)
