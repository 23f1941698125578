"""`retrolex pretrain`."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex pretrain my-notes/ --objective retromae --steps 400 --output runs/my-notes`")
def pretrain(
    source: Annotated[str, typer.Argument(help="A folder or file of text, or `python-docs`.")],
    init: Annotated[str, typer.Option(help="A hub name, a folder, `minilm`, or `scratch`.")] = "minilm",
    objective: Annotated[str, typer.Option(help="`retromae`, `dupmae`, `lexmae` or `mlm`.")] = "retromae",
    steps: Annotated[Optional[int], typer.Option(min=1, help="Optimizer steps.", show_default="one pass")] = None,  # noqa: UP045
    output: Annotated[Optional[str], typer.Option(help="Where to write.", show_default="runs/NAME")] = None,  # noqa: UP045
    train_tokenizer: Annotated[Optional[int], typer.Option(help="Vocabulary to learn for `scratch`.", show_default="16000")] = None,  # noqa: UP045
    layers: Annotated[Optional[int], typer.Option(help="Layers of `scratch`.", show_default="6")] = None,  # noqa: UP045
    hidden_size: Annotated[Optional[int], typer.Option(help="Width of `scratch`, a multiple of 32.", show_default="384")] = None,  # noqa: UP045
    length: Annotated[int, typer.Option(min=8, help="Longest input in tokens; longer documents are cut into chunks.")] = 128,
    tokens_per_batch: Annotated[int, typer.Option(min=1, help="Tokens of a batch, padding included.")] = 8192,
    learning_rate: Annotated[float, typer.Option(help="Peak learning rate.")] = 1e-4,
    probe_every: Annotated[Optional[int], typer.Option(min=1, help="Steps between probes.", show_default="ten a run")] = None,  # noqa: UP045
    patience: Annotated[Optional[int], typer.Option(min=1, help="Stop after so many probes without a gain.", show_default="never")] = None,  # noqa: UP045
    report_to: Annotated[Optional[list[str]], typer.Option(help="`tensorboard` or `wandb`; repeatable.", show_default=False)] = None,  # noqa: UP045
    set_: Annotated[Optional[list[str]], typer.Option("--set", help="Override one key of the recipe, as key=value; repeatable.")] = None,  # noqa: UP045
) -> None:
    """Pre-train on a collection, watched by a retrieval probe: a model folder that transformers loads."""
    from retrolex.pipeline.command import quiet
    from retrolex.pipeline.pretraining import pretrain_only, pretraining_recipe
    from retrolex.pipeline.processes import leads

    options = {
        "objective": objective,
        "steps": steps,
        "tokens_per_batch": tokens_per_batch,
        "learning_rate": learning_rate,
        "probe_every": probe_every,
        "patience": patience,
        "report_to": report_to or [],
    }
    sizes = {"vocabulary": train_tokenizer, "layers": layers, "hidden_size": hidden_size}
    recipe = pretraining_recipe(source, output, init, options, length, sizes, set_ or [])
    quiet()
    folder = pretrain_only(recipe)
    if leads():
        print(f"Model: {folder}")
