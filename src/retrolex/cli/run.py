"""`retrolex run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex run --collection my-notes/ --set dense.finetune.steps=200`")
def run(
    recipe: Annotated[Optional[Path], typer.Argument(help="A YAML recipe; without one, good defaults.", show_default=False)] = None,  # noqa: UP045
    collection: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A folder or file of text, `hf:NAME`, `ir_datasets:ID`, or `python-docs`.", show_default=False),
    ] = None,
    output: Annotated[Optional[str], typer.Option(help="Where to write; `runs/NAME` when not given.", show_default=False)] = None,  # noqa: UP045
    set_: Annotated[Optional[list[str]], typer.Option("--set", help="Override one key of the recipe, as key=value; repeatable.")] = None,  # noqa: UP045
) -> None:
    """Text in, measured search out: the whole pipeline, resumable, stage by stage."""
    from retrolex.pipeline.command import run_command

    run_command(recipe, collection, output, set_ or [])
