"""`retrolex teach`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex teach runs/my-notes --hard 3`, then a stage with `teacher: runs/my-notes/teacher`")
def teach(
    folder: Annotated[Path, typer.Argument(help="A folder that `retrolex run` or `retrolex finetune` wrote: its pairs and negatives are learned.")],
    init: Annotated[str, typer.Option(help="A hub name, a folder or `minilm`; a cross-encoder is trained further.")] = "minilm",
    output: Annotated[Optional[Path], typer.Option(help="Where to write.", show_default="teacher/ in the folder")] = None,  # noqa: UP045
    steps: Annotated[Optional[int], typer.Option(min=1, help="Optimizer steps.", show_default="one pass")] = None,  # noqa: UP045
    queries: Annotated[int, typer.Option(min=1, help="Queries a batch.")] = 8,
    hard: Annotated[int, typer.Option(min=1, help="Negatives a query.")] = 3,
    length: Annotated[int, typer.Option(min=8, help="Longest input in tokens, query and document together.")] = 256,
    learning_rate: Annotated[float, typer.Option(help="Peak learning rate.")] = 2e-5,
    seed: Annotated[int, typer.Option(help="Of batches and the new output.")] = 42,
) -> None:
    """Train a cross-encoder, the teacher of a distillation, on a run's pairs; a folder that `CrossEncoder` loads."""
    from retrolex.finetuning.teach import TeachOptions
    from retrolex.pipeline.command import quiet
    from retrolex.pipeline.teaching import teach_run

    quiet()
    options = TeachOptions(steps=steps, queries=queries, hard=hard, length=length, learning_rate=learning_rate, seed=seed)
    print(f"Teacher: {teach_run(folder, init, output or folder / 'teacher', options)}")
