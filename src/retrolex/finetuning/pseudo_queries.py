"""Training pairs for a collection: from its labels when it has some, else cut from its own documents."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from retrolex.collection import Collection
from retrolex.collection.documents import Document
from retrolex.errors import UserError
from retrolex.finetuning.crops import KINDS, Crop
from retrolex.finetuning.keyphrases import NAME as KEYPHRASES
from retrolex.finetuning.keyphrases import Weigh, from_keyphrases
from retrolex.finetuning.pairs import HELD_OUT, SKIPPED, TRAIN, Pair, digest, judged_pairs, originals, pseudo_id, write_pairs
from retrolex.finetuning.pools import Search
from retrolex.finetuning.round_trip import REASON, found_again

ROUNDS = 4  # pairs cut from one document at most
LABELS = "train"  # the split that is trained on
CHANGING = ("cloze", KEYPHRASES)  # kinds that differ from turn to turn, so that one document can give several
Kind = Callable[[Document, random.Random], Crop | None]


@dataclass(frozen=True)
class PairOptions:
    """How many pairs, of what kinds.

    Attributes:
        count: training pairs at most.
        positives: labelled pairs of one query at most, drawn at random; None: all of its relevant documents.
        fill: where labels give fewer training pairs than so many, pseudo-queries make up the difference.
        shares: how often each kind of pseudo-query is tried first; ``keyphrases`` needs a lexicon model.
        round_trip: keep a pseudo-query only if a retriever finds its document again among so many; None keeps all.
        held_out, held_out_limit: share and largest number of documents (of queries, where there are labels) kept for
            choosing between models.
        seed: decides which documents, kinds and spans.
    """

    count: int = 20_000
    positives: int | None = None
    fill: int = 1000
    shares: dict[str, float] = field(default_factory=lambda: {"title": 0.4, "lead": 0.3, "cloze": 0.3})
    round_trip: int | None = None
    held_out: float = 0.05
    held_out_limit: int = 400
    seed: int = 42


def make_pairs(
    collection: Collection, folder: Path, options: PairOptions, weigh: Weigh | None = None, searches: Mapping[str, Search] | None = None
) -> dict[str, int]:
    """Write ``train.jsonl``, ``held_out.jsonl`` and ``skipped.jsonl`` (what gave no pair, and why) into `folder`.

    The judgments of the split ``train`` are used when there are any; else every document is cut into a pseudo-query and
    the rest of it. Few labels are mixed with pseudo-queries, while the held-out pairs stay labelled.

    No document (with labels: no query, however it is spaced or capitalised) is in both files, and neither is a text that two documents share.

    Args:
        weigh: a lexicon model's weights of a text, for the kind ``keyphrases``.
        searches: name -> retriever, for the round-trip filter.

    Returns:
        Pairs by file and by kind, and what was skipped; with the round-trip filter, pairs by the retriever that found them again.

    Raises:
        UserError: not a single training pair came of it, or no pair to choose between models by; an option without what it needs.
    """
    finders: Counter[str] = Counter()
    pairs: dict[str, list[Pair]] = {TRAIN: [], HELD_OUT: []}
    skipped: list[dict[str, str]] = []

    def add(made: Iterator[tuple[str, Pair | dict[str, str]]]) -> None:
        for name, pair in made:
            if isinstance(pair, Pair):
                pairs[name].append(pair)
            else:
                skipped.append(pair)

    if LABELS in collection.splits:
        add(_labelled(collection, options))
        lacking = min(options.fill, options.count) - len(pairs[TRAIN])
        shares = _possible(options, weigh)
        if pairs[TRAIN] and pairs[HELD_OUT] and lacking > 0 and any(shares.values()):
            beside = replace(options, count=lacking, held_out_limit=0, shares=shares)
            asked = {pseudo_id(pair.query) for pair in pairs[HELD_OUT]}
            add(_pseudo(collection, beside, weigh, searches or {}, finders, asked))
    else:
        add(_pseudo(collection, options, weigh, searches or {}, finders))
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
    counts = {"train": len(pairs[TRAIN]), "held_out": len(pairs[HELD_OUT]), **dict(sorted(kinds.items())), "skipped": len(skipped)}
    return counts | {f"found again by {name}" if name else "not found again": count for name, count in finders.items()}


def _pseudo(
    collection: Collection,
    options: PairOptions,
    weigh: Weigh | None,
    searches: Mapping[str, Search],
    finders: Counter[str],
    asked: Set[str] = frozenset(),
) -> Iterator[tuple[str, Pair | dict[str, str]]]:
    """Rounds over the documents in random order, one pair a document and round; the held-out documents take part in the first only.

    `finders` is told which retriever found a pair's document again ("" for none); `asked` are ids of held-out queries, which are not made.
    """
    kinds = _kinds(options, weigh)
    if options.round_trip is not None and not searches:
        raise UserError("a round-trip filter without a retriever", where="pairs.round_trip", mend="leave it out, or give an index to search")
    finders.update(dict.fromkeys([*searches, ""], 0) if options.round_trip is not None else {})
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
            pair = _cut(collection, position, rng, options.shares, barred, kinds)
            if pair is not None and pair.query_id in asked:
                yield TRAIN, {"document": ids[position], "query": pair.query, "reason": "a held-out query asks the same"}
                continue
            if pair is not None and options.round_trip is not None:
                finder = found_again(pair, searches, options.round_trip, ids, first)
                finders[finder or ""] += 1
                if finder is None:
                    yield TRAIN, {"document": ids[position], "query": pair.query, "reason": f"{REASON} among its first {options.round_trip}"}
                    continue
            if pair is not None:
                made += not held_out
                held |= {position} if held_out else set()
                yield (HELD_OUT if held_out else TRAIN), pair
            elif turn == 0:
                yield TRAIN, {"document": ids[position], "reason": "too short to cut a query from"}


def _possible(options: PairOptions, weigh: Weigh | None) -> dict[str, float]:
    """The shares without that of keyphrases where nothing weighs words: beside labels it is no reason to stop."""
    return {kind: share for kind, share in options.shares.items() if kind != KEYPHRASES or weigh is not None}


def _kinds(options: PairOptions, weigh: Weigh | None) -> dict[str, Kind]:
    """The kinds of pseudo-queries that can be made here.

    Raises:
        UserError: a share for keyphrases without a model that weighs words.
    """
    if weigh is None:
        if options.shares.get(KEYPHRASES, 0) > 0:
            mend = "give a lexicon model, or leave the share out"
            raise UserError("keyphrases are chosen by a lexicon model's weights, and there is none", where="pairs.shares", mend=mend)
        return KINDS
    return KINDS | {KEYPHRASES: partial(from_keyphrases, weigh=weigh)}


def _cut(
    collection: Collection, position: int, rng: random.Random, shares: dict[str, float], barred: set[str], kinds: Mapping[str, Kind]
) -> Pair | None:
    """One pair of a kind drawn by the shares; where that kind cannot be made of this document, of the next kind drawn."""
    document = collection[position]
    left = {kind: share for kind, share in shares.items() if share > 0 and kind not in barred}
    while left:
        kind = rng.choices(list(left), weights=list(left.values()))[0]
        del left[kind]
        crop = kinds[kind](document, rng)
        if crop is not None:
            if kind not in CHANGING:
                barred.add(kind)
            return Pair(crop.query, crop.text, document.id, document.id, kind, pseudo_id(crop.query))
    return None


def _labelled(collection: Collection, options: PairOptions) -> Iterator[tuple[str, Pair | dict[str, str]]]:
    """One pair for every relevant judgment, or for so many a query as the options say, the queries in random order."""
    first, qrels = originals(collection), collection.qrels(LABELS)
    queries = list(qrels)
    random.Random(f"{options.seed}:queries").shuffle(queries)
    usable = [query for query in queries if query in collection.queries and any(grade > 0 and id in collection for id, grade in qrels[query].items())]
    held = {pseudo_id(collection.queries[query]) for query in usable[: max(0, _held_out(len(usable), options))]}
    made = 0
    for query, group in groupby(judged_pairs(collection, LABELS, first, queries), key=itemgetter(0)):
        found = [pair for _, pair in group]
        yield from ((TRAIN, missing) for missing in found if not isinstance(missing, Pair))
        pairs = [pair for pair in found if isinstance(pair, Pair)]
        held_out = bool(pairs) and pseudo_id(pairs[0].query) in held  # another query of the same words is held out too
        limit = len(pairs) if options.positives is None or held_out else min(options.positives, len(pairs))
        drawn = set(random.Random(f"{options.seed}:positives:{query}").sample(range(len(pairs)), limit))
        for place, pair in enumerate(pairs):
            if held_out:
                yield HELD_OUT, pair
            elif place not in drawn:
                yield TRAIN, {"query": query, "document": pair.document, "reason": f"beyond {options.positives} positives of the query"}
            elif made == options.count:
                yield TRAIN, {"query": query, "document": pair.document, "reason": f"beyond the first {options.count} pairs"}
            else:
                made += 1
                yield TRAIN, pair


def _held_out(total: int, options: PairOptions) -> int:
    """How many documents or queries to keep back: a share, at least one, but never all."""
    return min(max(1, round(options.held_out * total)), options.held_out_limit, total - 1)
