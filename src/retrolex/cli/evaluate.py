"""`retrolex evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from retrolex.cli.app import app
from retrolex.cli.measuring import Depth, Measures, Missing, PerQuery, Preset, Relevance, Save, SelfHits, Ties, ZeroScores


@app.command(epilog="Example: `retrolex evaluate run.trec qrels.tsv --measures 'nDCG@10 R@100'`")
def evaluate(
    run: Annotated[Path, typer.Argument(help="A run: TREC, jsonl, MS MARCO or Tevatron.")],
    qrels: Annotated[Path, typer.Argument(help="Judgments: BEIR or TREC.")],
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
    """Measure a run against judgments, with 95% intervals and the policy that was applied."""
    from retrolex.evaluation.commands import measure_command

    policy = {"missing": missing, "ties": ties, "zero_scores": zero_scores, "self_hits": self_hits, "relevance": relevance, "depth": depth}
    measure_command([run], qrels, measures, preset, save, per_query, **policy)
