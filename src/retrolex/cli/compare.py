"""`retrolex compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex compare bm25.trec mine.trec --qrels qrels.tsv`")
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two runs or more; the first is the baseline.")],
    qrels: Annotated[Path, typer.Option(help="Judgments: BEIR or TREC.")],
    measures: Annotated[Optional[str], typer.Option(help="Measures, separated by spaces.", show_default="nDCG@10 RR@10 R@100")] = None,  # noqa: UP045
    preset: Annotated[Optional[str], typer.Option(help="`msmarco-passage`, `msmarco-document`, `trec-dl` or `beir`.", show_default=False)] = None,  # noqa: UP045
    self_hits: Annotated[Optional[str], typer.Option(help="`keep` or `remove` a hit that is the query itself.", show_default=False)] = None,  # noqa: UP045
    save: Annotated[Optional[Path], typer.Option(help="Write the table: .md, .csv or .json.", show_default=False)] = None,  # noqa: UP045
) -> None:
    """Compare runs on the same judgments: paired tests, corrected for their number."""
    from retrolex.evaluation import commands

    chosen = commands.settings(measures.split() if measures else None, preset, self_hits=self_hits)
    found = commands.compare_files(runs, qrels, *chosen)
    commands.show(found)
    if save:
        commands.save(found, save)
