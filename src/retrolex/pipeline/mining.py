"""What ``retrolex mine`` does: negatives for pairs from several pools, written in the format asked for."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from retrolex.artifacts import Stage, key_of, read_manifest, sha256, write_json
from retrolex.cluster import ENGINES, connect
from retrolex.collection import Collection
from retrolex.errors import UserError
from retrolex.finetuning.formats import format_of, mined_rows, write_rows
from retrolex.finetuning.formats.disk import check_target, whole
from retrolex.finetuning.formats.msmarco import BREAKS
from retrolex.finetuning.formats.tevatron import write_corpus
from retrolex.finetuning.negatives import NEGATIVES, mine_pools, stream_negatives
from retrolex.finetuning.pairs import Pair, digest, judged_positives, originals
from retrolex.finetuning.pools import RunPool
from retrolex.finetuning.ranked import Ranked
from retrolex.index.run_rows import run_rows
from retrolex.pipeline.mining_sources import Job, documents_of, open_collection, open_pairs, open_pool, parse_spec, positions_of, rejects_of, state_of
from retrolex.pipeline.mining_systems import opened
from retrolex.progress import say, track


def run_job(job: Job) -> dict[str, int]:
    """Mine, write `job.output`, and beside it what was counted (``.manifest.json``); a killed job goes on where it was, on whatever engine.

    On Ray, retrievers are asked by the cluster, a block of queries at a time; run files are read here, and negatives chosen here, in order.

    A format that only names documents or queries gets them in files of their own: Tevatron's corpus (``.corpus.jsonl``), and the
    queries of ids-only formats (``.queries.tsv``).

    Raises:
        UserError: anything the user has to mend; nothing is left of the output then.
    """
    form = format_of(job.format)
    check_target(job.output, job.format)
    if job.options.sampling not in ("random", "top"):
        raise UserError(f"no way of sampling is called {job.options.sampling!r}", mend="choose random or top")
    if job.engine not in ENGINES:
        raise UserError(f"no engine {job.engine!r}", where="--engine", mend=f"choose one of: {', '.join(ENGINES)}")
    if job.engine == "ray":
        connect()
    work = job.output.with_name(f"{job.output.name}.mining")
    work.mkdir(exist_ok=True)
    try:
        collection = open_collection(job.source, work)
        rejects = rejects_of(collection, work)
        first = originals(collection)
        pairs, skipped = open_pairs(job, collection, first)
        teacher = _teacher(job, collection, pairs, work)
        counts = _mine(job, collection, first, pairs, teacher, work)
        counts |= {"judgments without their query or document": len(skipped), "rows of the source that were skipped": len(rejects)}
        rows = mined_rows(pairs, stream_negatives(work / "mined" / NEGATIVES), collection, form, teacher)
        if job.format == "tevatron":
            with whole(job.output.with_suffix(".corpus.jsonl")) as path:
                write_corpus(path, collection)
        if not form.queries:
            with whole(job.output.with_suffix(".queries.tsv")) as path:
                _write_queries(path, pairs)
        counts |= write_rows(job.output, job.format, track(rows, f"Writing {job.format} rows"))
    except UserError:
        shutil.rmtree(work, ignore_errors=True)
        raise
    finally:
        opened.cache_clear()
    config = {"source": job.source, "pools": list(job.pools), "split": job.split, "format": job.format, **asdict(job.options)}
    write_json(job.output.with_name(f"{job.output.name}.manifest.json"), {"config": config, "counts": counts, "skipped": skipped, "rejects": rejects})
    shutil.rmtree(work)
    say("\n".join([str(job.output), *(f"  {name}: {count:,}" for name, count in counts.items())]))
    return counts


def _mine(job: Job, collection: Collection, first: np.ndarray, pairs: list[Pair], teacher: Ranked | None, work: Path) -> dict[str, int]:
    specs = [parse_spec(text) for text in job.pools]
    known = judged_positives(collection, job.split, first) if job.split in collection.splits else {}
    described = [{"name": name, "first": begin, "depth": depth, "state": state_of(job, name)} for name, begin, depth in specs]
    config = {
        "documents": documents_of(collection),
        "pairs": key_of([[pair.query_id, pair.query, pair.document, digest(pair.positive)] for pair in pairs]),
        "known": key_of({query: sorted(found) for query, found in known.items()}),
        "pools": described,
        "teacher": sha256(job.teacher) if job.teacher and job.teacher.is_file() else None,
        **asdict(job.options),
    }

    def mined(out: Path) -> dict[str, Any]:
        pools = [open_pool(job, collection, pairs, work, *spec) for spec in specs]
        counts = mine_pools(pairs, pools, collection.ids, first, out, job.options, known=known, teacher=teacher)
        for pool in pools:
            if isinstance(pool, RunPool) and pool.ranked.counts["documents not in the collection"]:
                counts[f"{pool.name}: hits that are not in the collection"] = pool.ranked.counts["documents not in the collection"]
        return counts

    Stage("mine", work / "mined", config=config).run(mined)
    return dict(read_manifest(work / "mined")["counts"])


def _teacher(job: Job, collection: Collection, pairs: list[Pair], work: Path) -> Ranked | None:
    if job.teacher is None:
        return None
    rows = track(run_rows(job.teacher), f"Reading {job.teacher}")
    return Ranked.write(work / "teacher.hits", rows, positions_of(collection), {pair.query_id for pair in pairs})


def _write_queries(path: Path, pairs: list[Pair]) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for id, text in {pair.query_id: pair.query for pair in pairs}.items():
            file.write(f"{id}\t{BREAKS.sub(' ', text)}\n")
