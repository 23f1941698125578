"""BM25 agrees with the published figures of the shared collections to 0.002 (nDCG@10, RR@10, R@100; k1 0.9, b 0.4).

Documents of equal score stand in document order in our runs. Where a figure depends on that order, the published one must
lie within 0.002 of ours or of what the reversed order of equals gives.
"""

from __future__ import annotations

import gzip
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from retrolex.index.bm25 import BM25Index

SHARED = os.environ.get("RETROLEX_SHARED")
pytestmark = pytest.mark.skipif(not SHARED, reason="RETROLEX_SHARED is not set: no collections here")

LANGUAGES = {"drcd-zh": "chinese", "squad-it": "italian"}
COLLECTIONS = ["cranfield", "nfcorpus", "medquad-liveqa", "cosqa", "cisi", "medline", "climate-fever-evidence", "stackexchange-qa", *LANGUAGES]


def rows(path: Path) -> list[dict]:
    packed = path.with_name(path.name + ".gz")
    with gzip.open(packed, "rt", encoding="utf-8") if packed.exists() else open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def published(name: str) -> list[float]:
    for line in (Path(SHARED) / "collections/BASELINES.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 2 and cells[1] == name:
            return [float(cell) for cell in cells[4:7]]
    raise KeyError(name)


def measures(ranked: list[str], relevant: dict[str, int]) -> list[float]:
    """nDCG@10, RR@10 and R@100 of one query."""
    gains = [relevant.get(document, 0) / math.log2(rank + 2) for rank, document in enumerate(ranked[:10])]
    ideal = [grade / math.log2(rank + 2) for rank, grade in enumerate(sorted(relevant.values(), reverse=True)[:10])]
    first = next((1 / rank for rank, document in enumerate(ranked[:10], 1) if document in relevant), 0.0)
    return [sum(gains) / sum(ideal), first, len(relevant.keys() & set(ranked[:100])) / len(relevant)]


@pytest.mark.parametrize("name", COLLECTIONS)
def test_published_figures(tmp_path: Path, name: str) -> None:
    folder = Path(SHARED) / "collections" / name
    documents = rows(folder / "corpus.jsonl")
    ids = [document["_id"] for document in documents]
    texts = [f"{document.get('title') or ''} {document['text']}".strip() for document in documents]
    queries = {query["_id"]: query["text"] for query in rows(folder / "queries.jsonl")}
    qrels: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels/test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) >= 1:
            qrels.setdefault(query, {})[document] = int(grade)
    index = BM25Index.build(tmp_path, ids, texts, LANGUAGES.get(name, "english"))
    found = {True: [], False: []}
    for query, relevant in qrels.items():
        scores = index.scores(queries[query])
        positions = np.flatnonzero(scores > 0)
        for in_order in found:
            order = np.lexsort((positions if in_order else -positions, -scores[positions]))[:100]
            found[in_order].append(measures([ids[position] for position in positions[order]], relevant))
        assert [ids[position] for position in index.search([queries[query]], 100)[0][0]] == [ids[p] for p in _in_order(scores)[:100]]
    ours, reversed_ties = (np.mean(found[in_order], axis=0) for in_order in (True, False))
    for figure, one, other in zip(published(name), ours, reversed_ties, strict=True):
        assert min(abs(figure - one), abs(figure - other)) <= 0.002


def _in_order(scores: np.ndarray) -> list[int]:
    return [position for position in np.argsort(-scores, kind="stable").tolist() if scores[position] > 0]
