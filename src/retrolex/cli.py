"""The command line: one short function a verb."""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from retrolex import __version__
from retrolex.errors import UserError

OUTSIDE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.ENAMETOOLONG)  # faults of the disk, not of the program

app = typer.Typer(
    help="Turn a pile of text into a measured search engine.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """The console script: what the user can mend becomes one message and exit code 2."""
    try:
        app()
    except UserError as error:
        print(f"retrolex: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in OUTSIDE or error.filename is None:
            raise
        print(f"retrolex: {error.filename}: {error.strerror}\n  To mend it: make room, or choose a place you may write to", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("retrolex: interrupted; the same command continues where it was", file=sys.stderr)
        sys.exit(130)


def show_version(wanted: bool) -> None:
    if wanted:
        print(f"retrolex {__version__}")
        raise typer.Exit


@app.callback()
def options(version: Annotated[bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")] = False) -> None:
    """Turn a pile of text into a measured search engine.

    Start with `retrolex run --collection python-docs`, or with a folder of your own text.
    """


@app.command(epilog="Example: `retrolex run --collection my-notes/ --set dense.finetune.steps=200`")
def run(
    recipe: Annotated[Optional[Path], typer.Argument(help="A YAML recipe; without one, good defaults.", show_default=False)] = None,  # noqa: UP045
    collection: Annotated[Optional[str], typer.Option(help="A folder or file of text, or `python-docs`.", show_default=False)] = None,  # noqa: UP045
    output: Annotated[Optional[str], typer.Option(help="Where to write; `runs/NAME` when not given.", show_default=False)] = None,  # noqa: UP045
    set_: Annotated[Optional[list[str]], typer.Option("--set", help="Override one key of the recipe, as key=value; repeatable.")] = None,  # noqa: UP045
) -> None:
    """Text in, measured search out: the whole pipeline, resumable, stage by stage."""
    from retrolex.pipeline.command import run_command

    run_command(recipe, collection, output, set_ or [])


@app.command(epilog='Example: `retrolex search runs/python-docs "read a file line by line"`')
def search(
    folder: Annotated[Path, typer.Argument(help="A folder that `retrolex run` wrote.")],
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many results.")] = 10,
    system: Annotated[str, typer.Option(help="`hybrid`, or one of its parts: `bm25`, `dense`, `lexicon`.")] = "hybrid",
    rerank: Annotated[Optional[str], typer.Option(help="A cross-encoder that reads the best again.", show_default=False)] = None,  # noqa: UP045
    json_: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Search what a run has indexed: titles, scores, snippets, and which retriever found each."""
    from retrolex.search.rerank import Reranker
    from retrolex.search.searcher import Searcher

    answers = Searcher.open(folder).search(query, k, system, Reranker(rerank) if rerank else None)
    if json_:
        print(json.dumps([answer.plain() for answer in answers], ensure_ascii=False, indent=1))
        return
    from retrolex.search.display import show

    show(query, answers)


@app.command(epilog="Example: `retrolex evaluate run.trec qrels.tsv --measures 'nDCG@10 R@100'`")
def evaluate(
    run: Annotated[Path, typer.Argument(help="A run: TREC, jsonl, MS MARCO or Tevatron.")],
    qrels: Annotated[Path, typer.Argument(help="Judgments: BEIR or TREC.")],
    measures: Annotated[Optional[str], typer.Option(help="Measures, separated by spaces.", show_default="nDCG@10 RR@10 R@100")] = None,  # noqa: UP045
    preset: Annotated[Optional[str], typer.Option(help="`msmarco-passage`, `msmarco-document`, `trec-dl` or `beir`.", show_default=False)] = None,  # noqa: UP045
    self_hits: Annotated[Optional[str], typer.Option(help="`keep` or `remove` a hit that is the query itself.", show_default=False)] = None,  # noqa: UP045
    zero_scores: Annotated[Optional[str], typer.Option(help="`keep` or `drop` hits that score 0.", show_default=False)] = None,  # noqa: UP045
    depth: Annotated[Optional[int], typer.Option(min=1, help="Measure so many hits a query.", show_default=False)] = None,  # noqa: UP045
    save: Annotated[Optional[Path], typer.Option(help="Write the table: .md, .csv or .json.", show_default=False)] = None,  # noqa: UP045
) -> None:
    """Measure a run against judgments, with 95% intervals and the policy that was applied."""
    from retrolex.evaluation import commands

    chosen = commands.settings(measures.split() if measures else None, preset, zero_scores=zero_scores, self_hits=self_hits, depth=depth)
    found = commands.evaluate_files(run, qrels, *chosen)
    commands.show(found)
    if save:
        commands.save(found, save)


@app.command(epilog="Example: `retrolex compare bm25.trec mine.trec --qrels qrels.tsv`")
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two runs or more; the first is the baseline.")],
    qrels: Annotated[Path, typer.Option(help="Judgments: BEIR or TREC.")],
    measures: Annotated[Optional[str], typer.Option(help="Measures, separated by spaces.", show_default="nDCG@10 RR@10 R@100")] = None,  # noqa: UP045
    preset: Annotated[Optional[str], typer.Option(help="`msmarco-passage`, `msmarco-document`, `trec-dl` or `beir`.", show_default=False)] = None,  # noqa: UP045
    self_hits: Annotated[Optional[str], typer.Option(help="`keep` or `remove` a hit that is the query itself.", show_default=False)] = None,  # noqa: UP045
    save: Annotated[Optional[Path], typer.Option(help="Write the table: .md, .csv or .json.", show_default=False)] = None,  # noqa: UP045
) -> None:
    """Compare runs on the same judgments: paired tests, corrected for their number."""
    from retrolex.evaluation import commands

    chosen = commands.settings(measures.split() if measures else None, preset, self_hits=self_hits)
    found = commands.compare_files(runs, qrels, *chosen)
    commands.show(found)
    if save:
        commands.save(found, save)
