"""`retrolex check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex check my-notes/ --length 256`")
def check(
    source: Annotated[Path, typer.Argument(help="What `retrolex run --collection` takes: a folder, a file, or `python-docs`.")],
    tokenizer: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Counts the tokens: a checkpoint folder, a hub name, `minilm` or `words`.", show_default="minilm, else words"),
    ] = None,
    length: Annotated[int, typer.Option(min=3, help="Longest document that the model reads, in tokens.")] = 128,
    reader: Annotated[Optional[str], typer.Option(help="The format, where it is not recognised.", show_default=False)] = None,  # noqa: UP045
    column: Annotated[Optional[list[str]], typer.Option(help="Which column is which, as text=NAME; repeatable.", show_default=False)] = None,  # noqa: UP045
    json_: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Find what is wrong with a collection before it costs a run: where it is, and how to mend it.

    Exits with 1 when there are errors, with 0 when there are only warnings and notes, with 2 when nothing can be read.
    """
    from retrolex.collection.doctor import examine
    from retrolex.collection.doctor.token_counts import token_counter

    columns = dict(item.partition("=")[::2] for item in column or ())
    report = examine(source, reader=reader, columns=columns, counter=token_counter(tokenizer), length=length)
    if json_:
        print(json.dumps(report.plain(), ensure_ascii=True, indent=1))
    else:
        from retrolex.collection.doctor.display import show

        show(report)
    raise typer.Exit(report.exit_code)
