"""Training pairs for a collection: from its labels when it has some, else cut from its own documents."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from retrolex.collection import Collection
from retrolex.errors import UserError
from retrolex.finetuning.crops import KINDS
from retrolex.finetuning.pairs import HELD_OUT, SKIPPED, TRAIN, Pair, digest, originals, write_pairs

ROUNDS = 4  # pairs cut from one document at most
LABELS = "train"  # the split that is trained on


@dataclass(frozen=True)
class PairOptions:
    """How many pairs, of what kinds.

    Attributes:
        count: training pairs at most.
        shares: how often each kind of pseudo-query is tried first.
        held_out, held_out_limit: share and largest number of documents (of queries, where there are labels) kept for
            choosing between models.
        seed: decides which documents, kinds and spans.
    """

    count: int = 20_000
    shares: dict[str, float] = field(default_factory=lambda: {"title": 0.4, "lead": 0.3, "cloze": 0.3})
    held_out: float = 0.05
    held_out_limit: int = 400
    seed: int = 42


def make_pairs(collection: Collection, folder: Path, options: PairOptions) -> dict[str, int]:
    """Write ``train.jsonl``, ``held_out.jsonl`` and ``skipped.jsonl`` (what gave no pair, and why) into `folder`.

    The judgments of the split ``train`` are used when there are any; else every document is cut into a pseudo-query and
    the rest of it. No document (with labels: no query) is in both files, and neither is a text that two documents share.

    Returns:
        Pairs by file and by kind, and what was skipped.

    Raises:
        UserError: not a single training pair came of it, or no pair to choose between models by.
    """
    made = _labelled(collection, options) if LABELS in collection.splits else _pseudo(collection, options)
    pairs: dict[str, list[Pair]] = {TRAIN: [], HELD_OUT: []}
    skipped: list[dict[str, str]] = []
    for name, pair in made:
        if isinstance(pair, Pair):
            pairs[name].append(pair)
        else:
            skipped.append(pair)
    if not pairs[TRAIN] or not pairs[HELD_OUT]:
        reason = "the train judgments name no document here" if LABELS in collection.splits else "no document is long enough to cut a query from"
        if pairs[TRAIN] or pairs[HELD_OUT]:
            wanted = "train query with a relevant document" if LABELS in collection.splits else "document long enough to cut a query from"
            reason = f"there is only one {wanted}, and at least two are needed: to train on one and to choose between models by the other"
        raise UserError(f"no training pairs: {reason}", where=collection.folder, mend="add longer documents, or judgments for the split train")
    for name, found in pairs.items():
        write_pairs(folder / name, found)
    (folder / SKIPPED).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in skipped), encoding="utf-8", newline="\n")
    kinds = Counter(pair.kind for pair in pairs[TRAIN])
    return {"train": len(pairs[TRAIN]), "held_out": len(pairs[HELD_OUT]), **dict(sorted(kinds.items())), "skipped": len(skipped)}


def _pseudo(collection: Collection, options: PairOptions) -> Iterator[tuple[str, Pair | dict[str, str]]]:
    """Rounds over the documents in random order, one pair a document and round; the held-out documents take part in the first only."""
    ids, first = collection.ids, originals(collection)
    titles = np.fromiter((digest(document.title) for document in collection), np.int64, len(collection))
    _, inverse, times = np.unique(titles, return_inverse=True, return_counts=True)
    unique_title = times[inverse] == 1  # a title that several documents share answers none of them
    order = [position for position in range(len(ids)) if first[position] == position]
    random.Random(f"{options.seed}:order").shuffle(order)
    kept = _held_out(len(order), options)
    used: dict[int, set[str]] = {}
    held: set[int] = set()
    made = 0
    for turn in range(ROUNDS):
        for position in order:
            if made >= options.count:
                return
            if position in held:
                continue
            held_out = len(held) < kept  # the first documents that a query can be cut from
            rng = random.Random(f"{options.seed}:{turn}:{ids[position]}")
            barred = used.setdefault(position, set() if unique_title[position] else {"title"})
            pair = _cut(collection, position, rng, options.shares, barred)
            if pair is not None:
                made += not held_out
                held |= {position} if held_out else set()
                yield (HELD_OUT if held_out else TRAIN), pair
            elif turn == 0:
                yield TRAIN, {"document": ids[position], "reason": "too short to cut a query from"}


def _cut(collection: Collection, position: int, rng: random.Random, shares: dict[str, float], barred: set[str]) -> Pair | None:
    """One pair of a kind drawn by the shares; where that kind cannot be made of this document, of the next kind drawn."""
    document = collection[position]
    kinds = {kind: share for kind, share in shares.items() if share > 0 and kind not in barred}
    while kinds:
        kind = rng.choices(list(kinds), weights=list(kinds.values()))[0]
        del kinds[kind]
        crop = KINDS[kind](document, rng)
        if crop is not None:
            if kind != "cloze":  # the only one that differs from turn to turn
                barred.add(kind)
            return Pair(crop.query, crop.text, document.id, document.id, kind)
    return None


def _labelled(collection: Collection, options: PairOptions) -> Iterator[tuple[str, Pair | dict[str, str]]]:
    """One pair for every relevant judgment, the queries in random order."""
    first, qrels = originals(collection), collection.qrels(LABELS)
    queries = list(qrels)
    random.Random(f"{options.seed}:queries").shuffle(queries)
    usable = [query for query in queries if query in collection.queries and any(grade > 0 and id in collection for id, grade in qrels[query].items())]
    held, made = set(usable[: max(0, _held_out(len(usable), options))]), 0
    for query in queries:
        for id, grade in qrels[query].items():
            if grade < 1:
                continue
            missing = "query" if query not in collection.queries else "document" if id not in collection else None
            if missing:
                yield TRAIN, {"query": query, "document": id, "reason": f"no such {missing}"}
            elif query not in held and made == options.count:
                yield TRAIN, {"query": query, "document": id, "reason": f"beyond the first {options.count} pairs"}
            else:
                position = collection.position(id)
                made += query not in held
                pair = Pair(collection.queries[query], collection[position].full, id, collection.ids[first[position]], "labelled")
                yield (HELD_OUT if query in held else TRAIN), pair


def _held_out(total: int, options: PairOptions) -> int:
    """How many documents or queries to keep back: a share, at least one, but never all."""
    return min(max(1, round(options.held_out * total)), options.held_out_limit, total - 1)
