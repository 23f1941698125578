"""Training pairs on disk: a query, a text that answers it, and the document that the text comes from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from retrolex.collection import Collection
from retrolex.errors import UserError

TRAIN, HELD_OUT, SKIPPED = "train.jsonl", "held_out.jsonl", "skipped.jsonl"


@dataclass(frozen=True)
class Pair:
    """One training example.

    Attributes:
        query: its text.
        positive: the text that answers it: a document, or what is left of one after the query was cut out.
        document: id of the document that `positive` comes from.
        original: id of the first document with the very same text; documents of one original are never each other's negatives.
        kind: ``title``, ``lead`` or ``cloze`` (pseudo-queries), or ``labelled``.
    """

    query: str
    positive: str
    document: str
    original: str
    kind: str


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    """One JSON object a line."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for pair in pairs:
            file.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")


def read_pairs(path: Path) -> list[Pair]:
    """Pairs in the order of the file.

    Raises:
        UserError: no such file, or a line that is no pair.
    """
    if not path.exists():
        raise UserError("no pairs here", where=path, mend="run the stage that makes them first")
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], 1):
        try:
            pairs.append(Pair(**json.loads(line)))
        except (json.JSONDecodeError, TypeError) as error:
            raise UserError(f"not a training pair: {error}", where=f"{path}:{number}", mend="make the pairs again") from None
    return pairs


def known_positives(pairs: Iterable[Pair]) -> dict[str, set[str]]:
    """Originals that answer each query text: never negatives of it."""
    known: dict[str, set[str]] = {}
    for pair in pairs:
        known.setdefault(pair.query, set()).add(pair.original)
    return known


def digest(text: str) -> int:
    """64-bit hash of a text's words in small letters; the same on every machine."""
    return int.from_bytes(blake2b(" ".join(text.lower().split()).encode(), digest_size=8).digest(), "little", signed=True)


def originals(collection: Collection) -> np.ndarray:
    """For every document the position of the first one with the same text, int64 [documents]."""
    digests = np.fromiter((digest(document.full) for document in collection), np.int64, len(collection))
    _, first, inverse = np.unique(digests, return_index=True, return_inverse=True)
    return first[inverse]
