"""The report stage: what the run's folders say, brought together on one page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from retrolex.artifacts import LOGS
from retrolex.collection import Collection
from retrolex.collection.documents import Qrels
from retrolex.encoding.shards import read_shards
from retrolex.evaluation.report.build import chart_of, report_data
from retrolex.evaluation.report.data import Chart, Sparsity
from retrolex.evaluation.report.page import render
from retrolex.evaluation.table import Results
from retrolex.finetuning.guard import GUARDED
from retrolex.index.base import Run
from retrolex.pipeline.recipe import Recipe
from retrolex.pipeline.searching import HELD
from retrolex.search.explain import shared_terms
from retrolex.search.hybrid import Hybrid, label
from retrolex.search.systems import BM25System, ModelSystem

PSEUDO = (
    "This collection has no judgments: the queries were cut out of its own documents. Such queries share words with their documents, "
    "which flatters BM25; treat the figures as a check that everything works, and judge some real queries."
)


@dataclass(frozen=True)
class Story:
    """Everything the report tells; see `retrolex.pipeline.run`."""

    recipe: Recipe
    folder: Path
    collection: Collection
    found: Results
    runs: Mapping[str, Run]
    queries: Mapping[str, str]
    qrels: Qrels
    split: str
    hybrid: Hybrid
    systems: Mapping[str, BM25System | ModelSystem]


def write_report(story: Story, out: Path) -> dict[str, Any]:
    """Write ``report.html``."""
    collection = story.collection

    def document(id: str) -> tuple[str, str]:
        if id not in collection:
            return "", ""
        found = collection[collection.position(id)]
        return found.title, found.text

    lexicon = next((system for name, system in story.systems.items() if name == "adapted lexicon"), None)
    explain = shared_terms(lexicon.encoder, story.queries, lambda id: " ".join(document(id)).strip()) if isinstance(lexicon, ModelSystem) else None
    name = Path(story.recipe.collection.source).name.split(".")[0]
    data = report_data(story.found, name, runs=dict(story.runs), qrels=story.qrels, queries=dict(story.queries), document=document, terms=explain)
    data.facts = {
        "Documents": f"{len(collection):,}",
        "Queries": f"{len(story.queries):,} ({story.split})",
        "Hybrid": f"{label(story.hybrid)}: {story.hybrid.reason}",
    }
    if story.split == HELD:
        data.policy = [PSEUDO, *data.policy]
    data.charts = list(charts(story.folder))
    data.sparsity = sparsity(story.folder)
    plain = story.recipe.plain() | {"output": None}
    data.configuration = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    data.commands = [f"retrolex run --collection {story.recipe.collection.source}", f'retrolex search {story.folder} "your question"']
    (out / "report.html").write_text(render(data), encoding="utf-8")
    return {"headline": data.headline}


def charts(folder: Path) -> Iterator[Chart]:
    """Losses, probes and guards of every trained model, from their logs."""
    for name in ("dense", "lexicon"):
        rows = lines(folder / name / "pretrain" / LOGS / "train.jsonl")
        losses = {key: key for key in (rows[0] if rows else {}) if key == "loss" or key.endswith(("encoder", "decoder", "bow"))}
        if rows:
            yield chart_of(rows, f"Pre-training loss ({name})", losses, y_label="cross-entropy")
        probes = [flat(row) for row in lines(folder / name / "pretrain" / LOGS / "probe.jsonl")]
        if probes:
            keys = {key: key for key in probes[0] if key.endswith(".RR@10")}
            if keys:
                yield chart_of(
                    probes, f"Retrieval probe while pre-training ({name})", keys, y_label="RR@10", note="Known-item search on held-out documents."
                )
        rows = lines(folder / name / "finetune" / LOGS / "train.jsonl")
        if rows:
            yield chart_of(rows, f"Fine-tuning loss ({name})", {"loss": "loss", "contrastive": "contrastive"}, y_label="loss")
        guard = folder / name / "model" / GUARDED
        if guard.exists():
            stated = json.loads(guard.read_text(encoding="utf-8"))
            yield chart_of(
                stated["curve"],
                f"Between start (0) and adapted (1), {name}",
                {"ndcg": "nDCG@10", "rr": "RR@10"},
                x="alpha",
                y_label="on held-out pairs",
                note=f"Chosen: {stated['alpha']:g}, {stated['reason']}.",
            )


def lines(path: Path) -> list[dict[str, Any]]:
    """A JSON-lines log; empty when there is none."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested values under dotted names."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        found |= flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {before + key: value}
    return found


def sparsity(folder: Path) -> Sparsity | None:
    """Terms of every document's lexicon vector."""
    vectors = folder / "lexicon" / "vectors"
    if not vectors.exists():
        return None
    shards = list(read_shards(vectors))
    return Sparsity([int(n) for shard in shards for n in np.diff(shard.indptr)], vocabulary=shards[0].shape[1])
