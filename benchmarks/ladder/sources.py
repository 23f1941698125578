"""What the ladder reads: folders in BEIR layout made of the shared collections."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

COLLECTIONS = ("cranfield", "nfcorpus", "cosqa", "climate-fever-evidence")
UNLABELLED = ("english-prose", "gcide", "ml-abstracts", "software-docs")
SPLITS = ("dev", "test")


def unlabelled(collections: Path, folder: Path) -> Path:
    """One collection of all the text without judgments: what the plain start is trained on. No collection of the ladder is in it."""
    return written(folder, (row for name in UNLABELLED for row in rows(collections, name)))


def together(collections: Path, folder: Path) -> Path:
    """The documents of the ladder's collections as one collection without queries: what the plain start goes on with."""
    return written(folder, (row for name in COLLECTIONS for row in rows(collections, name)))


def without_labels(collections: Path, name: str, folder: Path) -> Path:
    """A collection of the ladder with the judgments that are measured and tuned on, but none to train on."""
    source = collections / name
    if not folder.exists():
        partial = folder.with_name(folder.name + ".partial")
        (partial / "qrels").mkdir(parents=True, exist_ok=True)
        for path in ("corpus.jsonl", "queries.jsonl", *(f"qrels/{split}.tsv" for split in SPLITS)):
            if (source / path).exists():
                (partial / path).write_bytes((source / path).read_bytes())
        partial.rename(folder)
    return folder


def rows(collections: Path, name: str) -> Iterator[str]:
    """Lines of a corpus, ids with the collection's name before them."""
    plain = collections / name / "corpus.jsonl"
    with plain.open(encoding="utf-8") if plain.exists() else gzip.open(f"{plain}.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield json.dumps(row | {"_id": f"{name}/{row['_id']}"}, ensure_ascii=False) + "\n"


def written(folder: Path, lines: Iterator[str]) -> Path:
    """A BEIR folder of documents alone."""
    if not folder.exists():
        partial = folder.with_name(folder.name + ".partial")
        partial.mkdir(parents=True, exist_ok=True)
        with (partial / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as out:
            out.writelines(lines)
        partial.rename(folder)
    return folder
