"""`retrolex compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from retrolex.cli.app import app
from retrolex.cli.measuring import Depth, Measures, Missing, PerQuery, Preset, Relevance, Save, SelfHits, Ties, ZeroScores


@app.command(epilog="Example: `retrolex compare bm25.trec mine.trec --qrels qrels.tsv`")
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two runs or more; the first is the baseline.")],
    qrels: Annotated[Path, typer.Option(help="Judgments: BEIR or TREC.")],
    measures: Measures = None,
    preset: Preset = None,
    missing: Missing = None,
    ties: Ties = None,
    zero_scores: ZeroScores = None,
    self_hits: SelfHits = None,
    relevance: Relevance = None,
    depth: Depth = None,
    save: Save = None,
    per_query: PerQuery = None,
) -> None:
    """Compare runs on the same judgments: paired tests, corrected for their number."""
    from retrolex.evaluation.commands import measure_command

    policy = {"missing": missing, "ties": ties, "zero_scores": zero_scores, "self_hits": self_hits, "relevance": relevance, "depth": depth}
    measure_command(runs, qrels, measures, preset, save, per_query, **policy)
