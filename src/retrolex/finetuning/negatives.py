"""Mining hard negatives: documents that retrievers rank high for a query although they do not answer it.

Queries are worked on in blocks and their negatives written at once, so memory does not grow with the number of queries; a
killed run goes on after the last whole block and ends in the same bytes.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from retrolex.artifacts import key_of, write_json
from retrolex.errors import UserError
from retrolex.finetuning.choosing import choose_negatives
from retrolex.finetuning.filters import Candidates, candidates
from retrolex.finetuning.mined import NEGATIVES, MiningOptions, Negative, line_of, read_negatives, stream_negatives
from retrolex.finetuning.pairs import Pair, known_positives
from retrolex.finetuning.pools import Pool, Search, SearchPool
from retrolex.finetuning.ranked import Ranked
from retrolex.index.base import Hits
from retrolex.progress import say, track

__all__ = ["NEGATIVES", "MiningOptions", "Negative", "mine", "mine_pools", "read_negatives", "stream_negatives"]

BLOCK = 256  # pairs that are searched together, and lost at most when a run is killed
PARTIAL, PROGRESS = "negatives.partial", "negatives.progress.json"


def mine(
    pairs: Sequence[Pair],
    search: Search,
    miner: str,
    ids: Sequence[str],
    originals: np.ndarray,
    folder: Path,
    options: MiningOptions,
    known: Mapping[str, set[str]] | None = None,
) -> dict[str, int]:
    """`mine_pools` with one pool, an index.

    Args:
        search: query texts and depth to ranked positions; `BM25Index.search`, for one.
        miner: its name, for the provenance.
    """
    return mine_pools(pairs, [SearchPool(miner, search, options.first, options.depth)], ids, originals, folder, options, known=known)


def mine_pools(
    pairs: Sequence[Pair],
    pools: Sequence[Pool],
    ids: Sequence[str],
    originals: np.ndarray,
    folder: Path,
    options: MiningOptions,
    *,
    known: Mapping[str, set[str]] | None = None,
    teacher: Ranked | None = None,
) -> dict[str, int]:
    """Write ``negatives.jsonl``: for every pair, in their order, exactly `per_query` negatives with their provenance.

    Neither a query's known positives nor documents of the same text are ever its negatives. A pool with too few candidates is
    filled from the next one, then with random documents, and, in a collection too small for that, with repeats; all are counted.

    Args:
        pairs: what to mine for.
        pools: where negatives come from, in order of preference; each with its own depths.
        ids, originals: document ids, and positions of the first document with the same text.
        folder: where to write.
        options: how many, and the margins; `first` and `depth` are the pools' own affair.
        known: query text -> originals that answer it, besides those of `pairs`.
        teacher: scores by query id, for `options.teacher_margin`.

    Returns:
        ``pairs``, ``mined``, ``random``, ``repeats`` (negatives), and by name what was filled and taken away.

    Raises:
        UserError: options that make no sense, or a query for which every document is a positive.
    """
    check(pools, options, teacher)
    key = key_of({"pairs": [[pair.query_id, pair.query, pair.original] for pair in pairs], "options": asdict(options),
                  "pools": [[pool.name, pool.first, pool.depth] for pool in pools], "documents": len(ids)})  # fmt: skip
    done, counts = _resume(folder, key, len(pairs))
    miner = _Miner(ids, originals, _answers(pairs, ids, known or {}), options, teacher, counts)
    with open(folder / PARTIAL, "ab") as file:
        searched = track(_searched(pairs[done:], pools), f"negatives by {', '.join(pool.name for pool in pools)}", len(pairs) - done)
        for number, (pair, hits) in enumerate(searched, done):
            file.write(line_of(miner.negatives(number, pair, hits)).encode())
            if (number + 1) % BLOCK == 0:
                file.flush()
                write_json(folder / PROGRESS, {"key": key, "pairs": number + 1, "bytes": file.tell(), "counts": dict(counts)})
    os.replace(folder / PARTIAL, folder / NEGATIVES)
    (folder / PROGRESS).unlink(missing_ok=True)
    totals = {"pairs": len(pairs), "mined": 0, "random": 0, "repeats": 0}
    return totals | {name: counts[name] for name in [*list(totals)[1:], *sorted(set(counts) - set(totals))]}


def check(pools: Sequence[Pool], options: MiningOptions, teacher: Ranked | None) -> None:
    """Refuse what cannot be meant.

    Raises:
        UserError: a depth before the first rank, two pools of one name, a margin without its scores, ...
    """
    if not pools:
        raise UserError("no pool to mine from", mend="name a run or a retriever, such as bm25")
    names = [pool.name for pool in pools]
    if len(set(names)) < len(names):
        raise UserError(f"two pools have the same name: {', '.join(names)}", mend="the name is the negatives' provenance: give each its own")
    for pool in pools:
        if not 1 <= pool.first <= pool.depth:
            raise UserError(f"pool {pool.name}: ranks {pool.first} to {pool.depth}", mend="give a first rank of 1 or more and a depth not above it")
    if options.per_query < 0:
        raise UserError(f"{options.per_query} negatives a query", mend="ask for 0 or more")
    if options.teacher_margin is not None and teacher is None:
        raise UserError("a margin against teacher scores, but no teacher scores", mend="give a file of query id, document id and score")


@dataclass(frozen=True)
class _Miner:
    """What is the same for every pair."""

    ids: Sequence[str]
    originals: np.ndarray
    answers: Mapping[str, set[int]]
    options: MiningOptions
    teacher: Ranked | None
    counts: Counter[str]

    def negatives(self, number: int, pair: Pair, hits: Sequence[tuple[Pool, Hits | None]]) -> list[Negative]:
        """The negatives of pair `number`, from what each pool found."""
        known = self.answers[pair.query]
        positive = next((position for position in known if self.ids[position] == pair.original), -1)
        scored = self.teacher[pair.query_id] if self.teacher is not None and pair.query_id in self.teacher else None
        found: list[tuple[str, Candidates | None]] = []
        for pool, ranked in hits:
            if ranked is None:
                found.append((pool.name, None))
                continue
            fit = candidates(ranked, positive, np.fromiter(known, np.int64), self.originals, pool.first, self.options, scored)
            found.append((pool.name, fit))
            self.counts.update({f"{pool.name}: {reason}": count for reason, count in fit.unjudged.items()})
            if fit.too_close:
                self.counts[f"{pool.name}: too close to the positive"] += fit.too_close
        rng = random.Random(f"{self.options.seed}:{number}")
        chosen = choose_negatives(found, known, self.ids, self.originals, rng, self.options, self.counts)
        if not chosen and self.options.per_query:
            raise UserError(f"every document answers the query {pair.query!r}", mend="add documents that do not, or correct the judgments")
        repeats = [chosen[place % len(chosen)] for place in range(self.options.per_query - len(chosen))]
        self.counts["repeats"] += len(repeats)
        return chosen + repeats


def _searched(pairs: Sequence[Pair], pools: Sequence[Pool]) -> Iterator[tuple[Pair, list[tuple[Pool, Hits | None]]]]:
    """Every pair with its hits, searched block by block."""
    blocks = [pairs[start : start + BLOCK] for start in range(0, len(pairs), BLOCK)]
    for block, *hits in zip(blocks, *(pool.hits(blocks) for pool in pools), strict=True):
        for place, pair in enumerate(block):
            yield pair, [(pool, found[place]) for pool, found in zip(pools, hits, strict=True)]


def _answers(pairs: Sequence[Pair], ids: Sequence[str], known: Mapping[str, set[str]]) -> dict[str, set[int]]:
    """Query text -> positions of the originals that answer it."""
    named = {query: found | known.get(query, set()) for query, found in known_positives(pairs).items()}
    wanted = set().union(*named.values())
    places = {id: position for position, id in enumerate(ids) if id in wanted}
    return {query: {places[id] for id in found if id in places} for query, found in named.items()}


def _resume(folder: Path, key: str, pairs: int) -> tuple[int, Counter[str]]:
    """How many pairs an earlier, killed attempt at the same work has left, and their counts; clears away anything else."""
    partial, progress = folder / PARTIAL, folder / PROGRESS
    state = json.loads(progress.read_text(encoding="utf-8")) if progress.exists() else {}
    if state.get("key") != key or not partial.exists():
        partial.unlink(missing_ok=True)
        progress.unlink(missing_ok=True)
        return 0, Counter()
    os.truncate(partial, state["bytes"])
    say(f"mining goes on after {state['pairs']:,} of {pairs:,} pairs")
    return state["pairs"], Counter(state["counts"])
