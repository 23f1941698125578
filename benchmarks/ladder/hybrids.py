"""The hybrid of BM25, the best dense and the best lexicon row, and what a reranker makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.ladder.plan import DEPTH, LENGTH, QUERY_LENGTH, ROWS
from benchmarks.ladder.runs import path_of, questions, run_of
from benchmarks.ladder.train import slug

from retrolex.collection import Collection
from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.runs import write_run
from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.teachers import Teacher
from retrolex.index.base import Run
from retrolex.search.hybrid import TUNING_MEASURE, Hybrid, equal, tune

HYBRID, RERANKED = "hybrid", "hybrid-reranked"
RERANK_DEPTH = 10  # documents a query: as many as nDCG@10 looks at
KINDS = {"dense": ("dense", "dupmae"), "lexicon": ("lexicon",)}


def best_rows(folder: Path, collections: Mapping[str, Collection]) -> dict[str, dict[str, str]]:
    """Collection -> kind -> the row that takes part, by nDCG@10 on the dev questions; where there are none, the best on average of those
    that have some. Test questions are never looked at."""
    tried = {
        name: {row.name: figure(run_of(folder, name, "dev", slug(row.name)), collection) for row in ROWS}
        for name, collection in collections.items()
        if "dev" in collection.splits
    }
    means = {row.name: sum(figures[row.name] for figures in tried.values()) for row in ROWS}
    return {
        name: {
            kind: max((row.name for row in ROWS if row.representation in of), key=tried.get(name, means).__getitem__) for kind, of in KINDS.items()
        }
        for name in collections
    }


def figure(run: Run, collection: Collection) -> float:
    """nDCG@10 on the dev questions."""
    return evaluate(run, collection.qrels("dev"), [TUNING_MEASURE]).mean(TUNING_MEASURE)


def hybrid_run(folder: Path, name: str, collection: Collection, chosen: Mapping[str, str]) -> Hybrid | None:
    """Write the hybrid's run of the test questions; weights tuned on dev questions where there are some, else equal."""
    if path_of(folder, name, "test", HYBRID).exists():
        return None
    systems = {"bm25": "bm25"} | {kind: slug(row) for kind, row in chosen.items()}
    if "dev" in collection.splits:
        runs = {part: run_of(folder, name, "dev", row) for part, row in systems.items()}
        hybrid = tune(runs, collection.qrels("dev"), "dev")
    else:
        hybrid = equal(list(systems), "no dev questions")
    fused = hybrid.fuse({part: run_of(folder, name, "test", row) for part, row in systems.items()})
    write_run(path_of(folder, name, "test", HYBRID), {query: hits[:DEPTH] for query, hits in fused.items()}, tag=HYBRID)
    return hybrid


def reranked_run(folder: Path, name: str, collection: Collection, teacher: Teacher) -> None:
    """Write the hybrid's run with its first documents in the cross-encoder's order; those below stay where they are."""
    path = path_of(folder, name, "test", RERANKED)
    if path.exists():
        return
    asked, run = questions(collection, "test"), run_of(folder, name, "test", HYBRID)
    teacher.model.max_seq_length = min(teacher.model.max_seq_length, LENGTH + QUERY_LENGTH)  # it reads as much as the other rows

    def text(id: str) -> str:
        return collection[collection.position(id)].full

    rows = [Pair(asked[query], text(id), id, id, "hit", f"{name}/{query}") for query, hits in run.items() for id, _ in hits[:RERANK_DEPTH]]
    scores = iter(teacher.scores(rows, [[]] * len(rows), text)[:, 0].tolist())
    result: Run = {}
    for query, hits in run.items():
        first = sorted(((next(scores), id) for id, _ in hits[:RERANK_DEPTH]), reverse=True)
        order = [*(id for _, id in first), *(id for id, _ in hits[RERANK_DEPTH:])]
        result[query] = [(id, float(len(order) - rank)) for rank, id in enumerate(order)]
    write_run(path, result, tag=RERANKED)
