"""Training pairs on disk: a query, a text that answers it, and the document that the text comes from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
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
        kind: ``labelled``, or the way a pseudo-query was made: ``title``, ``lead``, ``cloze`` or ``keyphrases``.
        query_id: the query's id in the collection, or `pseudo_id` of its text; empty where nobody asks for it.
    """

    query: str
    positive: str
    document: str
    original: str
    kind: str
    query_id: str = ""


def pseudo_id(query: str) -> str:
    """Id of a query that is in no collection; queries of the same words have the same."""
    return text_id("pseudo", query)


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


def judged_pairs(
    collection: Collection, split: str, first: np.ndarray, queries: Iterable[str] | None = None
) -> Iterator[tuple[str, Pair | dict[str, str]]]:
    """Query id and pair for every relevant judgment; in place of the pair, what is missing and of which judgment.

    Args:
        first: see `originals`.
        queries: in this order; in that of the judgments when None.
    """
    qrels = collection.qrels(split)
    for query in qrels if queries is None else queries:
        for id in (id for id, grade in qrels[query].items() if grade > 0):
            missing = "query" if query not in collection.queries else "document" if id not in collection else None
            if missing:
                yield query, {"query": query, "document": id, "reason": f"no such {missing}"}
            else:
                position = collection.position(id)
                yield query, Pair(collection.queries[query], collection[position].full, id, collection.ids[first[position]], "labelled", query)


def judged_positives(collection: Collection, split: str, first: np.ndarray) -> dict[str, set[str]]:
    """As `known_positives`, but from all judgments of a split, also those that no pair was made of.

    Args:
        first: see `originals`.
    """
    known: dict[str, set[str]] = {}
    for query, grades in collection.qrels(split).items():
        if query in collection.queries:
            relevant = {collection.ids[first[collection.position(id)]] for id, grade in grades.items() if grade > 0 and id in collection}
            known.setdefault(collection.queries[query], set()).update(relevant)
    return known


def digest(text: str) -> int:
    """64-bit hash of a text's words in small letters; the same on every machine."""
    return int.from_bytes(blake2b(" ".join(text.lower().split()).encode(), digest_size=8).digest(), "little", signed=True)


def text_id(kind: str, text: str) -> str:
    """An id for a text that has none; texts of the same words have the same."""
    return f"{kind}-{digest(text) & (1 << 64) - 1:016x}"


def originals(collection: Collection) -> np.ndarray:
    """For every document the position of the first one with the same text, int64 [documents]."""
    digests = np.fromiter((digest(document.full) for document in collection), np.int64, len(collection))
    _, first, inverse = np.unique(digests, return_index=True, return_inverse=True)
    return first[inverse]
