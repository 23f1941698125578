"""A small collection with and without judgments, and the pieces that fine-tuning needs of a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrolex.collection import Collection, import_collection

TOPICS = {
    "wing": "The wing of an aircraft carries the load of the fuselage in steady flight. Lift grows with the angle of attack until the flow parts.",
    "vitamin": "Vitamin D and calcium help to keep bones strong in old age. Sunlight lets the skin make the vitamin without any food at all.",
    "file": "Read a file line by line with a loop over the open file object. The file is closed when the block of the with statement ends.",
    "round": "Round a number to two decimals with the built-in function round. Halves go to the even neighbour, which surprises many people.",
    "climate": "The climate has warmed because carbon dioxide traps heat in the air. Oceans take up most of that heat and rise as they expand.",
    "table": "A hash table maps keys to values in constant time on average. Collisions are kept in chains or moved to the next free slot.",
    "bread": "Bread rises when yeast turns sugar into carbon dioxide gas. Salt slows the yeast and strengthens the gluten of the dough.",
    "river": "The river floods the plain each spring when the snow melts. Willows along the banks hold the soil and slow the water down.",
}


def write_source(folder: Path, judgments: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"_id": f"d-{name}", "title": f"About the {name}", "text": text} for name, text in TOPICS.items()]
    rows.append({"_id": "d-copy", "title": "About the wing", "text": TOPICS["wing"]})
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    queries = [{"_id": f"q-{name}", "text": f"what is {name}"} for name in TOPICS]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries), encoding="utf-8")
    if judgments:
        (folder / "qrels").mkdir(exist_ok=True)
        lines = [f"q-{name}\td-{name}\t1" for name in TOPICS] + ["q-wing\td-river\t1", "q-bread\td-river\t0"]
        (folder / "qrels/train.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return folder


def imported(folder: Path, judgments: bool = False) -> Collection:
    (folder / "collection").mkdir(parents=True)
    import_collection(write_source(folder / "source", judgments), folder / "collection")
    return Collection.open(folder / "collection")


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return imported(tmp_path / "plain")


@pytest.fixture
def labelled(tmp_path: Path) -> Collection:
    return imported(tmp_path / "labelled", judgments=True)
