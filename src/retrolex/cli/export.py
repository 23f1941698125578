"""`retrolex export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex export sentence-transformers runs/python-docs --system dense --output my-model`")
def export(
    target: Annotated[str, typer.Argument(help="What to write: `sentence-transformers`, `huggingface`, `onnx`, `openvino`.")],
    folder: Annotated[Path, typer.Argument(help="A folder that `retrolex run` wrote, or a model folder.")],
    output: Annotated[Path, typer.Option(help="Where to write; a folder.")],
    system: Annotated[Optional[str], typer.Option(help="Which retriever of a run: `dense` or `lexicon`.", show_default=False)] = None,  # noqa: UP045
) -> None:
    """Hand a model over to another library.

    Every folder has a README.md with code that loads it. The lexicon model of `sentence-transformers` pools over [CLS] and [SEP] too, which
    retrolex leaves out.
    """
    from retrolex.export import export as write

    counts = write(target, folder, output, system)
    print(f"{output}: " + ", ".join(f"{name} {value}" for name, value in counts.items()))
