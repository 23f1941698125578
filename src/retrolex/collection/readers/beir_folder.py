"""A BEIR folder: corpus.jsonl, and where present queries.jsonl and qrels/SPLIT.tsv; each may end in .gz.

Format: Thakur et al. 2021, "BEIR: A Heterogenous Benchmark for Zero-shot Evaluation of Information Retrieval Models".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.readers.columns import NAMES, QUERY_NAMES, Chosen, choose, document_of, query_of_row
from retrolex.collection.readers.files import existing
from retrolex.collection.readers.jsonl_file import Row, read_objects
from retrolex.collection.readers.lines import kind_of
from retrolex.collection.readers.qrels import read_qrels
from retrolex.collection.readers.records import Columns, Reader, Record, Reject
from retrolex.errors import UserError


def _one_of(folder: Path, name: str) -> Path | None:
    """The file of this name, plain or with .gz."""
    there = [path for path in (folder / name, folder / f"{name}.gz") if path.exists()]
    if len(there) == 2:
        raise UserError(f"both {name} and {name}.gz are here", where=folder, mend="keep one of the two")
    return there[0] if there else None


def _qrels(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "qrels").glob("*") if kind_of(path) == ".tsv" and not path.name.startswith("."))


def matches(folder: Path) -> bool:
    """Whether a folder is laid out like this."""
    return _one_of(folder, "corpus.jsonl") is not None


def files(source: Path) -> list[Path]:
    """corpus.jsonl, queries.jsonl if any, and the judgments by name.

    Raises:
        UserError: there is no corpus.jsonl.
    """
    corpus = _one_of(existing(source), "corpus.jsonl")
    if corpus is None:
        raise UserError("no corpus.jsonl in this folder", where=source, mend="put the documents there, one JSON object a line")
    queries = _one_of(source, "queries.jsonl")
    return [corpus, *([queries] if queries else []), *_qrels(source)]


def _rows(path: Path, names: dict[str, tuple[str, ...]]) -> Iterator[tuple[Chosen | None, Row | Reject]]:
    """The objects of a file with their columns; an id in every row is part of the format."""
    columns: Chosen | None = None
    for row in read_objects(path):
        if columns is None and isinstance(row, Row):
            columns = choose(row.values, {}, row.place, names)
            columns = columns._replace(id=columns.id or "_id")
        yield columns, row


def _documents(path: Path) -> Iterator[Record]:
    for columns, row in _rows(path, NAMES):
        yield row if isinstance(row, Reject) else document_of(row.values, columns, row.place, "")


def read_query_objects(path: Path) -> Iterator[Record]:
    """The queries of one file of JSON lines.

    Raises:
        UserError: a row without an id, or a file without a column that could be the query.
    """
    for columns, row in _rows(path, QUERY_NAMES):
        yield row if isinstance(row, Reject) else query_of_row(row.values, columns, row.place)


def read(source: Path, _: Columns) -> Iterator[Record]:
    """Documents, queries, judgments."""
    corpus, *others = files(source)
    yield from _documents(corpus)
    for path in others:
        name = path.name.removesuffix(".gz")
        yield from read_query_objects(path) if name == "queries.jsonl" else read_qrels(path, name.removesuffix(".tsv"))


READER = Reader("a BEIR folder: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv", files, read)
