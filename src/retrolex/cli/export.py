"""`retrolex export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app
from retrolex.errors import UserError

MODELS = "`sentence-transformers`, `huggingface`, `onnx`, `openvino`"
ENGINES = "`anserini` (Lucene), `seismic`, `ciff`, `pisa`, `opensearch`, `elasticsearch`, `vespa`, `milvus`, `qdrant`, `pgvector`"


@app.command(epilog="Example: `retrolex export sentence-transformers runs/python-docs --system dense --output my-model`")
def export(
    target: Annotated[str, typer.Argument(help=f"The model for {MODELS}; documents and vectors for {ENGINES}.")],
    folder: Annotated[Path, typer.Argument(help="A folder that `retrolex run` wrote, or a model folder.")],
    output: Annotated[Optional[Path], typer.Option(help="Where to write; a folder.", show_default=False)] = None,  # noqa: UP045
    system: Annotated[Optional[str], typer.Option(help="Which retriever of a run: `dense` or `lexicon`.", show_default=False)] = None,  # noqa: UP045
    to: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Instead of writing files, load an engine that runs (`opensearch`, `elasticsearch`, `qdrant`, `pgvector`): "
            "http://HOST:PORT/INDEX or postgresql://HOST/DATABASE#TABLE.",
            show_default=False,
        ),
    ] = None,
    bits: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, max=30, help="Bits that a term's weight may take (`anserini`, `seismic`, `ciff`, `pisa`).", show_default=False),
    ] = None,
) -> None:
    """Hand a model, or documents and their vectors, over to another library or engine.

    Every folder has a README.md with code that loads it. The lexicon model of `sentence-transformers` pools over [CLS] and [SEP] too, which
    retrolex leaves out.
    """
    if (output is None) == (to is None):
        raise UserError("where should it go?", mend="give either --output FOLDER or --to URL")
    if to is not None:
        if bits is not None:
            raise UserError("--bits is for files", mend="leave it out")
        from retrolex.export.live import load

        print(f"{to.rpartition('@')[2]}: documents {load(target, folder, to, system)}")
        return
    from retrolex.export import export as write

    counts = write(target, folder, output, system, bits)
    print(f"{output}: " + ", ".join(f"{name} {value}" for name, value in counts.items()))
