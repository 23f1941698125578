"""`retrolex index`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex index my-index --add documents.jsonl` and `retrolex index my-index --search queries.jsonl -o run.trec`")
def index(
    folder: Annotated[Path, typer.Argument(help="The index; made by the first --add.")],
    add: Annotated[Optional[Path], typer.Option(help="Vectors of documents to add.", show_default=False)] = None,  # noqa: UP045
    delete: Annotated[Optional[Path], typer.Option(help="A file of ids to delete, one a line.", show_default=False)] = None,  # noqa: UP045
    merge: Annotated[bool, typer.Option("--merge", help="Rewrite as one segment: the fastest to search.")] = False,
    search: Annotated[Optional[Path], typer.Option(help="Vectors of queries to search with.", show_default=False)] = None,  # noqa: UP045
    output: Annotated[Path, typer.Option("--output", "-o", help="The run that --search writes: .trec or .jsonl.")] = Path("run.trec"),
    k: Annotated[int, typer.Option("-k", min=1, help="Hits a query.")] = 1000,
    threads: Annotated[int, typer.Option(min=1, help="Queries searched at a time.")] = 1,
    approximate: Annotated[bool, typer.Option("--approximate", help="Two-stage lexicon search, for up to 100 hits; says its recall.")] = False,
    form: Annotated[Optional[str], typer.Option("--from", help="`shards`, `json`, `npy` or `npz`; told from the path.", show_default=False)] = None,  # noqa: UP045
    ids: Annotated[Optional[Path], typer.Option(help="Ids of the vectors, one a line; `ids.txt` beside them.", show_default=False)] = None,  # noqa: UP045
    scale: Annotated[float, typer.Option(help="Multiply weights: 0.01 for integers that are 100 times the weight.")] = 1.0,
    kind: Annotated[str, typer.Option(help="Of a new dense index: `flat` (exact), `pq`, `ivfpq`, `hnsw` or `sq8`.")] = "flat",
    weights: Annotated[str, typer.Option(help="Of a new lexicon index: `round`, `floor` (the paper's) or `float`.")] = "round",
) -> None:
    """Index vectors, of retrolex or of another tool; add, delete, merge, search.

    Readers that have the index open go on with what they opened; a change that is killed half-way leaves the index as it was.
    """
    from retrolex.evaluation.runs import write_run
    from retrolex.index import folder as room
    from retrolex.progress import say

    if add:
        room.add(folder, add, ids, form, scale, kind, weights)
    opened = room.open_index(folder)
    if delete:
        opened.delete(room.read_ids(delete))
    if merge:
        opened.merge()
    say(f"{folder}: {len(opened):,} documents in {opened.segments} segments, {opened.bytes:,} bytes ({opened.KIND}, {opened.option})")
    if search:
        asked = room.queries(folder, search, None if add else ids, form, scale)
        run, recall = room.search(opened, asked, k, threads, approximate)
        write_run(output, run)
        say(f"{output}: {len(run):,} queries, {sum(map(len, run.values())):,} hits")
        if asked.unknown:
            say(f"{asked.unknown:,} query weights left out: no document has their term")
        if recall is not None:
            say(f"recall@{k} {recall:.3f} against exact, on up to {room.SAMPLED} of the queries")
