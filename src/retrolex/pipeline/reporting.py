"""The report stage: what the run's folders say, brought together on one page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import yaml

from retrolex.artifacts import LOGS, MANIFEST, Stage, content_hash, read_manifest
from retrolex.encoding.shards import read_shards
from retrolex.evaluation.comparison import compare
from retrolex.evaluation.report.build import chart_of, report_data
from retrolex.evaluation.report.data import Chart, Sparsity
from retrolex.evaluation.report.page import render
from retrolex.finetuning.guard import GUARDED
from retrolex.pipeline.checks import alone
from retrolex.pipeline.recipe import RETRIEVERS
from retrolex.pipeline.searching import HELD
from retrolex.pipeline.stages import execute
from retrolex.pipeline.story import Story, open_story
from retrolex.search.explain import shared_terms
from retrolex.search.hybrid import label
from retrolex.search.systems import ModelSystem

REPORT = "report.html"
LEXICONS = ("adapted lexicon", "start lexicon")  # whose terms are shown: the first that there is
SPARSITY_QUERIES = 1000  # queries at most whose lexicon vectors are counted
PSEUDO = (
    "This collection has no judgments: the queries were cut out of its own documents. Such queries share words with their documents, "
    "which flatters BM25; treat the figures as a check that everything works, and judge some real queries."
)


def report(story: Story) -> Path:
    """The report stage, ``report/``; returns the HTML file."""
    inputs = {"evaluate": story.folder / "evaluate", "hybrid": story.folder / "hybrid"}
    execute(Stage("report", story.folder / "report", inputs, story.recipe.plain()), lambda out: write_report(story, out))
    return story.folder / "report" / REPORT


def rewrite_report(folder: Path) -> Path:
    """Write the report of a finished run again, whether or not there is one; returns the HTML file.

    Raises:
        UserError: no run has come to its end here, or one is at work here.
    """
    story = open_story(folder)
    with alone(folder):
        (folder / "report" / MANIFEST).unlink(missing_ok=True)
        return report(story)


def write_report(story: Story, out: Path) -> dict[str, Any]:
    """Write ``report.html``, and ``per-query.csv`` with the value of every query."""
    collection = story.collection

    def document(id: str) -> tuple[str, str]:
        if id not in collection:
            return "", ""
        found = collection[collection.position(id)]
        return found.title, found.text

    lexicon = next((story.systems[name] for name in LEXICONS if name in story.systems), None)
    explain = shared_terms(lexicon.encoder, story.queries, lambda id: " ".join(document(id)).strip()) if isinstance(lexicon, ModelSystem) else None
    name = Path(story.recipe.collection.source).name.split(".")[0]
    data = report_data(story.found, name, runs=dict(story.runs), qrels=story.qrels, queries=dict(story.queries), document=document, terms=explain)
    data.facts = {
        "Documents": f"{len(collection):,}",
        "Queries": f"{len(story.queries):,} ({story.split})",
        "Hybrid": f"{label(story.hybrid)}: {story.hybrid.reason}",
        "Collection's hash": content_hash(story.folder / "collection")[:12],
        "Seed": str(story.recipe.seed),
        **against_starts(story),
    }
    if story.split == HELD:
        data.policy = [PSEUDO, *data.policy]
    data.charts = list(charts(story.folder))
    data.sparsity = sparsity(story, lexicon) if isinstance(lexicon, ModelSystem) else None
    plain = story.recipe.plain() | {"output": None}
    data.configuration = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    data.commands = [*commands(story)]
    (out / REPORT).write_text(render(data), encoding="utf-8", newline="\n")
    (out / "per-query.csv").write_text(story.found.per_query(), encoding="utf-8", newline="\n")
    return {"headline": data.headline}


def against_starts(story: Story) -> dict[str, str]:
    """What adaptation was worth: every adapted retriever against its start, by the first measure."""
    evaluations, said = {row.name: row.evaluation for row in story.found.rows}, {}
    for name in RETRIEVERS:
        start, adapted = f"start {name}", f"adapted {name}"
        if start in evaluations and adapted in evaluations:
            compared = compare({start: evaluations[start], adapted: evaluations[adapted]}, start)
            said[f"Adaptation, {name}"] = compared.of(adapted, story.found.measures[0]).verdict()
    return said


def commands(story: Story) -> Iterator[str]:
    """How to get the same figures, and more out of this run."""
    versions = (read_manifest(story.folder / "evaluate") or {}).get("versions", {})
    made_with = f"with {', '.join(f'{name} {version}' for name, version in versions.items())}"
    yield fill(made_with, 78, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False, break_long_words=False)
    yield "# save the configuration above as recipe.yaml, then:"
    yield "retrolex run recipe.yaml"
    yield f'retrolex search {story.folder} "your question"'


def charts(folder: Path) -> Iterator[Chart]:
    """Losses, probes and guards of every trained model, from their logs."""
    for name in RETRIEVERS:
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
        for stage in sorted((folder / name).glob("finetune*")):
            rows = lines(stage / LOGS / "train.jsonl")
            if rows:
                of = name + stage.name.removeprefix("finetune").replace("-", ", stage ")
                yield chart_of(rows, f"Fine-tuning loss ({of})", {"loss": "loss", "contrastive": "contrastive"}, y_label="loss")
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


def sparsity(story: Story, lexicon: ModelSystem) -> Sparsity:
    """Terms of the lexicon vectors of every document, and of the measured queries."""
    shards = list(read_shards(lexicon.folder.with_name(lexicon.folder.name.replace("index", "vectors"))))
    queries = lexicon.encoder.encode(list(story.queries.values())[:SPARSITY_QUERIES], "query")
    documents, asked = ([int(n) for part in parts for n in np.diff(part.indptr)] for parts in (shards, [queries]))
    return Sparsity(documents, asked, shards[0].shape[1])
