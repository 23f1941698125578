"""The hits of a run file one by one, for runs that are larger than memory: TREC, jsonl, MS MARCO and Tevatron, plain or gzipped.

Three columns are taken for MS MARCO's (query, document, rank) when the third numbers every query's hits from 0 or 1, in whatever order
they stand but that of falling scores, as PyTerrier's does from 0, and for Tevatron's (query, document, score) otherwise. A TREC run's
second column may hold anything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from retrolex.collection.readers.lines import NOT_UTF8, open_bytes
from retrolex.collection.readers.records import shortened
from retrolex.errors import UserError

Row = tuple[str, str, float]
"""Query id, document id, score."""

Format = Literal["trec", "jsonl", "msmarco", "tevatron"]
COLUMNS = {
    "trec": "query Q0 document rank score tag",
    "msmarco": "query, document, rank",
    "tevatron": "query, document, score",
    "jsonl": '{"query": "q1", "hits": [["d7", 12.5], ["d3", 11.0]]}',
}
WIDTHS = {"trec": 6, "msmarco": 3, "tevatron": 3}


class Hit(NamedTuple):
    """A hit and its line; without a document for a query that jsonl says has none."""

    line: int
    query: str
    document: str | None
    score: float


def run_rows(path: Path) -> Iterator[Row]:
    """Query id, document id and score of every hit, in the order of the file.

    Raises:
        UserError: as `run_hits`, and when there is no line.
    """
    empty = True
    for _, query, document, score in run_hits(Path(path)):
        empty = False
        if document is not None:
            yield query, document, score
    if empty:
        raise UserError("an empty run", where=path, mend="check the path")


def run_hits(path: Path, form: Format | None = None) -> Iterator[Hit]:
    """Every hit in the order of the file; of a rank r, counted from 1, the score 1/r.

    Args:
        path: the file.
        form: its format, where looking at it is not enough.

    Raises:
        UserError: with file and line, when a line is not of the format, or its score is no finite number.
    """
    number, first = next(lines(path), (0, ""))
    if not number:
        return
    if form == "jsonl" or (form is None and _is_jsonl(first)):
        yield from _jsonl(path)
        return
    width = WIDTHS[form] if form else len(columns(first, (3, 6)))
    base = _rank_base(path, form) if width == 3 and form != "tevatron" else None
    for hit in _text(path, width, form):
        if base is not None and (hit.score < base or hit.score != int(hit.score)):
            _refuse(path, hit.line, f"the rank is {hit.score:g}, expected a whole number from {base:g} on", "msmarco")
        yield hit if base is None else hit._replace(score=1 / (hit.score + 1 - base))


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbers and texts of the lines that are not blank; tens of millions of them, hence nothing is made of each.

    Raises:
        UserError: no such file, a damaged one, or a line that is not UTF-8.
    """
    if not path.is_file():
        raise UserError("this is a folder, a file was expected" if path.is_dir() else "no such file", where=path, mend="check the path")
    with open_bytes(path) as file:
        for number, raw in enumerate(file, 1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise UserError(NOT_UTF8, where=f"{path}:{number}", mend="convert the file to UTF-8") from None
            if text.strip():
                yield number, text


def columns(text: str, widths: tuple[int, ...]) -> list[str]:
    """A line's columns: between tabs where that gives one of `widths`, so that ids may hold spaces; else between white space of any kind,
    as trec_eval reads them."""
    fields = [field.strip() for field in text.rstrip("\r\n").split("\t")]
    return fields if len(fields) in widths else text.split()


def _number(text: str) -> float:
    """Not a number where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _is_jsonl(text: str) -> bool:
    """Whether a first line is of jsonl, damaged or not, and no line of a text format whose query id begins with a brace."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        fields = columns(text, (3, 6))
        return not (len(fields) in (3, 6) and math.isfinite(_number(fields[4 if len(fields) == 6 else 2])))


def _text(path: Path, width: int, form: Format | None) -> Iterator[Hit]:
    """The hits of a file of three or six columns, the third column of three as it is."""
    document, score = (2, 4) if width == 6 else (1, 2)
    known = form or {6: "trec", 3: "tevatron"}.get(width)
    for number, text in lines(path):
        fields = columns(text, (width,))
        if known is None or len(fields) != width:
            _refuse(path, number, f"{len(fields)} columns: {shortened(text.strip())}", known)
        value = _number(fields[score])
        if not math.isfinite(value):
            _refuse(path, number, f"the {'rank' if known == 'msmarco' else 'score'} is {fields[score]!r}, expected a finite number", known)
        if not fields[0] or not fields[document]:
            _refuse(path, number, "an empty id", known)
        yield Hit(number, fields[0], fields[document], value)


def _rank_base(path: Path, form: Format | None) -> float | None:
    """What ranks count from, 0 or 1, in a file of three columns; None where the third column is no rank."""
    if form == "msmarco":
        return 0.0 if any(hit.score == 0 for hit in _text(path, 3, form)) else 1.0
    counted: dict[str, tuple[int, int, int, int]] = {}  # of every query: hits, the first rank, the sum of ranks, that of their squares
    last: dict[str, int] = {}
    rises = False
    for _, query, _, value in _text(path, 3, form):
        if value != int(value) or value < 0:
            return None
        rank = int(value)
        rises |= rank > last.get(query, rank)
        last[query] = rank
        hits, first, total, squares = counted.get(query, (0, rank, 0, 0))
        counted[query] = hits + 1, min(first, rank), total + rank, squares + rank * rank
    base = min(first for _, first, _, _ in counted.values())
    falls = not rises and any(hits > 1 for hits, _, _, _ in counted.values())
    if base > 1 or falls or any(numbers != _numbered(numbers[0], base) for numbers in counted.values()):
        return None
    return float(base)


def _numbered(hits: int, base: int) -> tuple[int, int, int, int]:
    """What `_rank_base` counts where ranks run from `base` on without a gap."""
    ranks = range(base, base + hits)
    return hits, base, sum(ranks), sum(rank * rank for rank in ranks)


def _jsonl(path: Path) -> Iterator[Hit]:
    for number, text in lines(path):
        try:
            entry = json.loads(text)
            query, hits = _id(entry["query"]), [(_id(document), float(score)) for document, score in entry["hits"]]
        except (ValueError, TypeError, KeyError):
            _refuse(path, number, f"not such an object: {shortened(text.strip())}", "jsonl")
        if not hits:
            yield Hit(number, query, None, 0.0)
        for document, score in hits:
            if not math.isfinite(score):
                _refuse(path, number, f"the score of document {document!r} is {score}, expected a finite number", "jsonl")
            yield Hit(number, query, document, score)


def _id(value: object) -> str:
    """An id as `str`. Raises TypeError for what is none, null among it."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError
    return str(value)


def _refuse(path: Path, number: int, what: str, form: str | None) -> NoReturn:
    """Say what a line has, and what a line of the format would have."""
    wanted = f"a line of a {form} run reads {COLUMNS[form]}" if form else "a run has 6 columns (TREC), 3 columns (MS MARCO, Tevatron) or is jsonl"
    hint = "" if form == "jsonl" else "; ids that hold spaces need jsonl, or tabs between the columns"
    raise UserError(what, where=f"{path}:{number}", mend=wanted + hint)
