"""The hits of a run file one by one, for runs that are larger than memory: TREC, jsonl, MS MARCO and Tevatron, plain or gzipped.

Three columns are taken for MS MARCO's (query, document, rank) when the third counts upwards by one from 0 or 1 for every query, as
PyTerrier's does from 0, and for Tevatron's (query, document, score) otherwise. A TREC run's second column may hold anything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from retrolex.collection.readers.lines import NOT_UTF8, open_bytes
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
    number, first = next(_lines(path), (0, ""))
    if not number:
        return
    if form == "jsonl" or (form is None and _is_jsonl(first)):
        yield from _jsonl(path)
        return
    width = WIDTHS[form] if form else len(_columns(first))
    base = _rank_base(path, form) if width == 3 and form != "tevatron" else None
    for hit in _text(path, width, form):
        if base is not None and (hit.score < base or hit.score != int(hit.score)):
            _refuse(path, hit.line, "msmarco")
        yield hit if base is None else hit._replace(score=1 / (hit.score + 1 - base))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbers and texts of the lines that are not blank; tens of millions of them, hence nothing is made of each."""
    if not path.is_file():
        raise UserError("no such file", where=path, mend="check the path")
    with open_bytes(path) as file:
        for number, raw in enumerate(file, 1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise UserError(NOT_UTF8, where=f"{path}:{number}", mend="convert the file to UTF-8") from None
            if text.strip():
                yield number, text


def _columns(text: str) -> list[str]:
    """By tabs when there are any, so that ids may hold spaces; else by white space."""
    return [field.strip() for field in text.split("\t")] if "\t" in text else text.split()


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
        fields = _columns(text)
        return not (len(fields) in (3, 6) and math.isfinite(_number(fields[4 if len(fields) == 6 else 2])))


def _text(path: Path, width: int, form: Format | None) -> Iterator[Hit]:
    """The hits of a file of three or six columns, the third column of three as it is."""
    document, score = (2, 4) if width == 6 else (1, 2)
    for number, text in _lines(path):
        fields = _columns(text)
        value = _number(fields[score]) if len(fields) == width and width in (3, 6) else math.nan
        if not math.isfinite(value):
            _refuse(path, number, form or {6: "trec", 3: "tevatron"}.get(width))
        yield Hit(number, fields[0], fields[document], value)


def _rank_base(path: Path, form: Format | None) -> float | None:
    """What ranks count from, 0 or 1, in a file of three columns; None where the third column is no rank."""
    if form == "msmarco":
        return 0.0 if any(hit.score == 0 for hit in _text(path, 3, form)) else 1.0
    following: dict[str, float] = {}
    base = None
    for _, query, _, value in _text(path, 3, form):
        base = value if base is None else base
        if base not in (0, 1) or value != following.get(query, base):
            return None
        following[query] = value + 1
    return base


def _jsonl(path: Path) -> Iterator[Hit]:
    for number, text in _lines(path):
        try:
            entry = json.loads(text)
            query, hits = str(entry["query"]), [(str(document), float(score)) for document, score in entry["hits"]]
        except (ValueError, TypeError, KeyError):
            _refuse(path, number, "jsonl")
        if not hits:
            yield Hit(number, query, None, 0.0)
        for document, score in hits:
            if not math.isfinite(score):
                _refuse(path, number, "jsonl")
            yield Hit(number, query, document, score)


def _refuse(path: Path, number: int, form: str | None) -> NoReturn:
    wanted = f"a line of a {form} run: {COLUMNS[form]}" if form else "6 columns (TREC), 3 columns (MS MARCO, Tevatron) or jsonl"
    mend = "ids that hold spaces need jsonl, or tabs between the columns" if form != "jsonl" else "one JSON object a line, scores finite"
    raise UserError(f"this is not {wanted}", where=f"{path}:{number}", mend=mend)
