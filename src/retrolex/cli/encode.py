"""`retrolex encode`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex encode my-notes/ --model minilm --output vectors` and `retrolex index my-index --add vectors`")
def encode(
    source: Annotated[str, typer.Argument(help="A folder or file of text, a collection, a run; or a file of queries.")],
    model: Annotated[str, typer.Option(help="A model folder, a hub name, or `minilm`.")],
    output: Annotated[Path, typer.Option(help="The folder to write.")],
    representation: Annotated[Optional[str], typer.Option(help="`dense` or `lexicon`.", show_default="the model's")] = None,  # noqa: UP045
    kind: Annotated[str, typer.Option(help="`document` or `query`: which prefix and length of the model apply.")] = "document",
    length: Annotated[Optional[int], typer.Option(min=3, help="Longest input in tokens.", show_default="the model's")] = None,  # noqa: UP045
    top_k: Annotated[Optional[int], typer.Option(min=1, help="Weights kept of a lexicon document.", show_default="all")] = None,  # noqa: UP045
    dtype: Annotated[str, typer.Option(help="Of the stored numbers: `float32` or `float16`.")] = "float32",
    shard_size: Annotated[int, typer.Option(min=1, help="Texts a shard: what a kill costs at most. Larger ones waste less on padding.")] = 2048,
    engine: Annotated[str, typer.Option(help="`here`, or `ray`: on the cluster RAY_ADDRESS names, else on this machine's cores.")] = "here",
) -> None:
    """Encode text into shards of dense or lexicon vectors; killed, the same command goes on where it was.

    Under `torchrun` all processes share the shards.
    """
    from retrolex.pipeline.command import quiet
    from retrolex.pipeline.encoding import Job, run_job
    from retrolex.pipeline.processes import leads

    quiet()
    run_job(Job(source, model, output, representation, kind, length, top_k, dtype, shard_size), engine)
    if leads():
        print(f"Vectors: {output}")
