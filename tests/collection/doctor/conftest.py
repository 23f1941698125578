"""A source written by hand, and what the doctor finds in it."""

from __future__ import annotations

import json

import pytest

from retrolex.collection.doctor import examine
from retrolex.collection.doctor.token_counts import token_counter


def rows(*values: dict) -> str:
    """JSON lines."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


@pytest.fixture
def findings():
    """A function: source, and examine's options -> finding's name -> (severity, count, examples as `file:line`)."""

    def do(source, **options) -> dict[str, tuple[str, int, list[str]]]:
        report = examine(source, **{"counter": token_counter("words"), **options})
        return {found.name: (found.severity, found.count, [str(place) for place, _ in found.examples]) for found in report.findings}

    return do


@pytest.fixture
def beir(write):
    """A function: corpus, queries and judgments by split as text or lists of rows -> their folder."""

    def do(corpus, queries=None, **qrels):
        path = write("data/corpus.jsonl", corpus if isinstance(corpus, (str, bytes)) else rows(*corpus))
        if queries is not None:
            write("data/queries.jsonl", queries if isinstance(queries, (str, bytes)) else rows(*queries))
        for split, lines in qrels.items():
            write(f"data/qrels/{split}.tsv", "".join("\t".join(map(str, line)) + "\n" for line in lines))
        return path.parent

    return do
