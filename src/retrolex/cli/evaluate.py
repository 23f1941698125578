"""`retrolex evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex evaluate run.trec qrels.tsv --measures 'nDCG@10 R@100'`")
def evaluate(
    run: Annotated[Path, typer.Argument(help="A run: TREC, jsonl, MS MARCO or Tevatron.")],
    qrels: Annotated[Path, typer.Argument(help="Judgments: BEIR or TREC.")],
    measures: Annotated[Optional[str], typer.Option(help="Measures, separated by spaces.", show_default="nDCG@10 RR@10 R@100")] = None,  # noqa: UP045
    preset: Annotated[Optional[str], typer.Option(help="`msmarco-passage`, `msmarco-document`, `trec-dl` or `beir`.", show_default=False)] = None,  # noqa: UP045
    self_hits: Annotated[Optional[str], typer.Option(help="`keep` or `remove` a hit that is the query itself.", show_default=False)] = None,  # noqa: UP045
    zero_scores: Annotated[Optional[str], typer.Option(help="`keep` or `drop` hits that score 0.", show_default=False)] = None,  # noqa: UP045
    depth: Annotated[Optional[int], typer.Option(min=1, help="Measure so many hits a query.", show_default=False)] = None,  # noqa: UP045
    save: Annotated[Optional[Path], typer.Option(help="Write the table: .md, .csv or .json.", show_default=False)] = None,  # noqa: UP045
) -> None:
    """Measure a run against judgments, with 95% intervals and the policy that was applied."""
    from retrolex.evaluation import commands

    chosen = commands.settings(measures.split() if measures else None, preset, zero_scores=zero_scores, self_hits=self_hits, depth=depth)
    found = commands.evaluate_files(run, qrels, *chosen)
    commands.show(found)
    if save:
        commands.save(found, save)
