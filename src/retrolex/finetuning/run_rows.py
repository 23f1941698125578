"""The hits of a run file one by one, for runs that are larger than memory: TREC, jsonl, MS MARCO and Tevatron, plain or gzipped.

Three columns are taken for MS MARCO's (query, document, rank) when the third counts upwards by one from 0 or 1 for every query, and
for Tevatron's (query, document, score) otherwise.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.readers.files import existing
from retrolex.collection.readers.lines import NOT_UTF8, open_bytes
from retrolex.errors import UserError

Row = tuple[str, str, float]
"""Query id, document id, score."""

MEND = "write 6 columns (TREC), 3 columns (query, document, rank or score), or jsonl; ids with spaces need tabs between the columns"


def run_rows(path: Path) -> Iterator[Row]:
    """Query id, document id and score of every hit, in the order of the file; of a rank r, counted from 1, the score 1/r.

    Raises:
        UserError: with file and line, when a line is of none of the formats or a score is no finite number.
    """
    path = Path(path)
    first = next(_lines(path), None)
    if first is None:
        raise UserError("an empty run", where=path, mend="check the path")
    if first[1].lstrip().startswith("{"):
        yield from _jsonl(path)
        return
    width = len(_columns(first[1]))
    base = _rank_base(path) if width == 3 else None
    for query, document, value in _hits(path, width):
        yield query, document, value if base is None else 1 / (value + 1 - base)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbers and texts of the lines that are not blank; tens of millions of them, hence nothing is made of each."""
    with open_bytes(existing(path)) as file:
        for number, raw in enumerate(file, 1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise UserError(NOT_UTF8, where=f"{path}:{number}", mend="convert the file to UTF-8") from None
            if not text.isspace():
                yield number, text


def _columns(text: str) -> list[str]:
    """By tabs when there are any, so that ids may hold spaces; else by white space."""
    return [field.strip() for field in text.split("\t")] if "\t" in text else text.split()


def _hits(path: Path, width: int) -> Iterator[Row]:
    """The hits of a file of three or six columns, the third column of three as it is."""
    document, score = (2, 4) if width == 6 else (1, 2)
    for number, text in _lines(path):
        fields = _columns(text)
        if len(fields) != width or width not in (3, 6):
            wanted = f" of {width} columns" if width in (3, 6) else ""
            raise UserError(f"{len(fields)} columns are no line of a run{wanted}", where=f"{path}:{number}", mend=MEND)
        try:
            value = float(fields[score])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise UserError(f"the score is {fields[score]!r}, expected a finite number", where=f"{path}:{number}")
        yield fields[0], fields[document], value


def _rank_base(path: Path) -> float | None:
    """What ranks count from, 0 or 1, in a file of three columns; None where the third column is no rank."""
    following: dict[str, float] = {}
    base = None
    for query, _, value in _hits(path, 3):
        base = value if base is None else base
        if base not in (0, 1) or value != following.get(query, base):
            return None
        following[query] = value + 1
    return base


def _jsonl(path: Path) -> Iterator[Row]:
    for number, text in _lines(path):
        try:
            entry = json.loads(text)
            hits = [(str(document), float(score)) for document, score in entry["hits"]]
            query = str(entry["query"])
        except (ValueError, TypeError, KeyError):
            hits, query = [("", math.nan)], ""
        for document, score in hits:
            if not math.isfinite(score):
                mend = "one JSON object a line, scores finite"
                raise UserError('expected {"query": "q1", "hits": [["d7", 12.5], ["d3", 11.0]]}', where=f"{path}:{number}", mend=mend)
            yield query, document, score
