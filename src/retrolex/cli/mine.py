"""`retrolex mine`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app

POOLS = "Where negatives come from: `bm25`, a retriever of the run (`dense`, `lexicon`), another run's (`FOLDER/dense`), or a run file; repeatable."
FORMATS = "`retrolex`, `sentence-transformers`, `tevatron`, `tevatron-passages`, `flagembedding`, `sbert`, `msmarco-ids` or `msmarco-texts`."


@app.command(epilog="Example: `retrolex mine runs/python-docs --pool bm25 --pool dense:10-200 --format tevatron --output train.jsonl`")
def mine(
    source: Annotated[str, typer.Argument(help="A folder that `retrolex run` wrote, or any collection of documents, queries and judgments.")],
    pool: Annotated[list[str], typer.Option(help=POOLS + " Add `:DEPTH` or `:FIRST-DEPTH` for the ranks to sample; 200 deep, `bm25` 1000.")],
    output: Annotated[Path, typer.Option(help="The file to write.")],
    format: Annotated[str, typer.Option(help=FORMATS)] = "retrolex",
    per_query: Annotated[int, typer.Option("-n", "--per-query", min=1, help="Negatives a pair, spread evenly over the pools.")] = 7,
    split: Annotated[str, typer.Option(help="Whose judgments the pairs come from; of a run without them, its pseudo-queries.")] = "train",
    pairs: Annotated[Optional[Path], typer.Option(help="Or a file of pairs, such as a run's `pairs/train.jsonl`.", show_default=False)] = None,  # noqa: UP045
    sampling: Annotated[str, typer.Option(help="`random` among the ranks, or `top`.")] = "random",
    absolute_margin: Annotated[Optional[float], typer.Option(help="A negative scores so much below the positive.", show_default=False)] = None,  # noqa: UP045
    relative_margin: Annotated[Optional[float], typer.Option(help="Or such a share of its score: 0.05 is 5%.", show_default=False)] = None,  # noqa: UP045
    teacher: Annotated[Optional[Path], typer.Option(help="Teacher scores: query id, document id, score.", show_default=False)] = None,  # noqa: UP045
    teacher_margin: Annotated[Optional[float], typer.Option(help="A negative's teacher score lies so much lower.", show_default=False)] = None,  # noqa: UP045
    language: Annotated[str, typer.Option(help="Of the BM25 index, where one has to be made.")] = "english",
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 42,
    engine: Annotated[str, typer.Option(help="`here`, or `ray`: on the cluster RAY_ADDRESS names, else on this machine's cores.")] = "here",
) -> None:
    """Mine hard negatives from any mix of retrievers, and write training rows for any toolkit; killed, the same command goes on where it was."""
    from retrolex.finetuning.mined import MiningOptions
    from retrolex.pipeline.mining import run_job
    from retrolex.pipeline.mining_sources import Job

    options = MiningOptions(
        per_query, seed=seed, sampling=sampling, absolute_margin=absolute_margin, relative_margin=relative_margin, teacher_margin=teacher_margin
    )
    run_job(Job(source, tuple(pool), output, format, split, pairs, teacher, language, options, engine))
