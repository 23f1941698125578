"""Hard negatives: documents that BM25 ranks high for a query although they do not answer it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from retrolex.errors import UserError
from retrolex.finetuning.pairs import Pair, known_positives
from retrolex.index.base import Hits
from retrolex.progress import track

NEGATIVES = "negatives.jsonl"
RANDOM = "random"  # the miner's name of documents that were drawn blindly


@dataclass(frozen=True)
class Negative:
    """A document that does not answer a query, and how it was found.

    Attributes:
        document, original: its id, and the id of the first document with the same text.
        miner: the name of the run that ranked it; ``random`` when it only fills a gap.
        rank, score: place in that run, from 1, and score; 0 for random ones.
    """

    document: str
    original: str
    miner: str
    rank: int
    score: float


@dataclass(frozen=True)
class MiningOptions:
    """Which ranks to sample from.

    Attributes:
        per_query: negatives a pair.
        first, depth: best and worst rank that is sampled, positives included in the counting.
        seed: of the sample.
    """

    per_query: int = 7
    first: int = 1
    depth: int = 100
    seed: int = 42


def mine(
    pairs: Sequence[Pair],
    search: Callable[[list[str], int], list[Hits]],
    miner: str,
    ids: Sequence[str],
    originals: np.ndarray,
    folder: Path,
    options: MiningOptions,
) -> dict[str, int]:
    """Write ``negatives.jsonl``: for every pair, in their order, exactly `per_query` negatives with their provenance.

    Neither a query's known positives nor documents of the same text are ever its negatives. A query with too few ranked
    candidates is filled with random documents, and, in a collection too small for that, with repeats; both are counted.

    Args:
        pairs: what to mine for.
        search: query texts and depth to ranked positions; `BM25Index.search`, for one.
        miner: its name, for the provenance.
        ids, originals: document ids, and positions of the first document with the same text.
        folder: where to write.

    Returns:
        Pairs, mined negatives, random ones, repeats.

    Raises:
        UserError: a query for which every document is a positive.
    """
    known, counts = known_positives(pairs), {"pairs": len(pairs), "mined": 0, "random": 0, "repeats": 0}
    with open(folder / NEGATIVES, "w", encoding="utf-8", newline="\n") as file:
        for number, pair in enumerate(track(pairs, f"negatives by {miner}")):
            rng = random.Random(f"{options.seed}:{number}")
            taken = set(known[pair.query])
            ranked = _ranked(*search([pair.query], options.depth)[0], miner, ids, originals, taken, options.first)
            chosen = sorted(rng.sample(ranked, min(options.per_query, len(ranked))), key=lambda negative: negative.rank)
            taken.update(negative.original for negative in chosen)
            fill = _random(options.per_query - len(chosen), rng, ids, originals, taken)
            counts["mined"], counts["random"] = counts["mined"] + len(chosen), counts["random"] + len(fill)
            chosen += fill
            if not chosen and options.per_query:
                raise UserError(f"every document answers the query {pair.query!r}", mend="add documents that do not, or correct the judgments")
            repeats = [chosen[i % len(chosen)] for i in range(options.per_query - len(chosen))]
            counts["repeats"] += len(repeats)
            file.write(json.dumps([asdict(negative) for negative in chosen + repeats], ensure_ascii=False) + "\n")
    return counts


def read_negatives(path: Path) -> list[list[Negative]]:
    """What `mine` wrote, one list a pair.

    Raises:
        UserError: no such file.
    """
    if not path.exists():
        raise UserError("no negatives here", where=path, mend="run the stage that mines them first")
    return [[Negative(**row) for row in json.loads(line)] for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def _ranked(
    positions: np.ndarray, scores: np.ndarray, miner: str, ids: Sequence[str], originals: np.ndarray, taken: set[str], first: int
) -> list[Negative]:
    """Candidates of one run: no positive, and every text once."""
    found, seen = [], set(taken)
    for rank, (position, score) in enumerate(zip(positions.tolist(), scores.tolist(), strict=True), 1):
        original = ids[originals[position]]
        if rank >= first and original not in seen:
            seen.add(original)
            found.append(Negative(ids[position], original, miner, rank, round(score, 4)))
    return found


def _random(count: int, rng: random.Random, ids: Sequence[str], originals: np.ndarray, taken: set[str]) -> list[Negative]:
    """Up to `count` blindly drawn documents whose text is not taken yet."""
    found: list[Negative] = []
    if count <= 0:
        return found
    seen = set(taken)
    order = rng.sample(range(len(ids)), min(len(ids), count + 4 * len(seen) + 64))  # a few are positives: draw some more
    for position in order:
        original = ids[originals[position]]
        if original not in seen:
            seen.add(original)
            found.append(Negative(ids[position], original, RANDOM, 0, 0.0))
            if len(found) == count:
                break
    return found
