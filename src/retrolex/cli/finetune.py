"""`retrolex finetune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex finetune recipe.yaml --set 'dense.finetune.stages=[bm25, dense, {teacher: my-cross-encoder}]'`")
def finetune(
    recipe: Annotated[Optional[Path], typer.Argument(help="A YAML recipe; without one, good defaults.", show_default=False)] = None,  # noqa: UP045
    collection: Annotated[Optional[str], typer.Option(help="A folder or file of text, or `python-docs`.", show_default=False)] = None,  # noqa: UP045
    output: Annotated[Optional[str], typer.Option(help="Where to write; `runs/NAME` when not given.", show_default=False)] = None,  # noqa: UP045
    lora: Annotated[Optional[int], typer.Option(min=1, help="Train low-rank adapters of this rank.", show_default="all weights")] = None,  # noqa: UP045
    set_: Annotated[Optional[list[str]], typer.Option("--set", help="Override one key of the recipe, as key=value; repeatable.")] = None,  # noqa: UP045
) -> None:
    """The stages of a run up to its fine-tuned models; `retrolex run` goes on from there."""
    from retrolex.pipeline.command import finetune_command

    finetune_command(recipe, collection, output, lora, set_ or [])
