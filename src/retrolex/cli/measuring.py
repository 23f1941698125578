"""The options that `retrolex evaluate` and `retrolex compare` share: measures and every part of the policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

# typer reads these at run time, where Python 3.10 wants Optional
Measures = Annotated[Optional[str], typer.Option(help="Measures, separated by spaces or commas.", show_default="nDCG@10 RR@10 R@100")]  # noqa: UP045
Preset = Annotated[Optional[str], typer.Option(help="`msmarco-passage`, `msmarco-document`, `trec-dl` or `beir`.", show_default=False)]  # noqa: UP045
Missing = Annotated[Optional[str], typer.Option(help="A query without a hit counts `zero`, or `exclude` it.", show_default="zero")]  # noqa: UP045
Ties = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Equal scores: by id `descending` (trec_eval) or `ascending` (Anserini), or as in the `run`.", show_default="descending"),
]
ZeroScores = Annotated[Optional[str], typer.Option(help="`keep` or `drop` hits that score 0.", show_default="keep")]  # noqa: UP045
SelfHits = Annotated[Optional[str], typer.Option(help="`keep` or `remove` a hit that is the query itself.", show_default="keep")]  # noqa: UP045
Relevance = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, help="Lowest grade that is relevant, for measures that do not say so themselves as in RR(rel=2)@10.", show_default="1"),
]
Depth = Annotated[Optional[int], typer.Option(min=1, help="Measure so many hits a query.", show_default="all")]  # noqa: UP045
Save = Annotated[Optional[Path], typer.Option(help="Write the table: .md, .csv or .json.", show_default=False)]  # noqa: UP045
PerQuery = Annotated[Optional[Path], typer.Option(help="Write every query's values and changes: .csv.", show_default=False)]  # noqa: UP045
