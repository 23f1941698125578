"""`retrolex search`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog='Example: `retrolex search runs/python-docs "read a file line by line"`')
def search(
    folder: Annotated[Path, typer.Argument(help="A folder that `retrolex run` wrote.")],
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many results.")] = 10,
    system: Annotated[str, typer.Option(help="`hybrid`, or one of its parts: `bm25`, `dense`, `lexicon`.")] = "hybrid",
    rerank: Annotated[Optional[str], typer.Option(help="A cross-encoder that reads the best again.", show_default=False)] = None,  # noqa: UP045
    backend: Annotated[
        Optional[tuple[str, str]],  # noqa: UP045
        typer.Option(
            metavar="NAME URL",
            help="Ask an engine that `retrolex export NAME --to URL` loaded (`opensearch`, `elasticsearch`, `qdrant`, `pgvector`) "
            "instead of the run's own index; `--system` says which retriever's vectors it has.",
            show_default=False,
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Search what a run has indexed: titles, scores, snippets, and which retriever found each."""
    from retrolex.search.rerank import Reranker
    from retrolex.search.searcher import Searcher

    if backend:
        from retrolex.export.live import open_backend

        searcher, system = open_backend(folder, *backend, None if system == "hybrid" else system)
    else:
        searcher = Searcher.open(folder)
    answers = searcher.search(query, k, system, Reranker(rerank) if rerank else None)
    if json_:
        print(json.dumps([answer.plain() for answer in answers], ensure_ascii=False, indent=1))
        return
    from retrolex.search.display import show

    show(query, answers)
