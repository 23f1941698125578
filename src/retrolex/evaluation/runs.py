"""Runs and judgments on disk, in the formats that retrieval tools exchange.

Read: TREC runs (trec_eval, Anserini, Pyserini, PyTerrier; the second column may hold anything), jsonl, MS MARCO (query, passage,
rank) and Tevatron (query, passage, score), any of them gzipped. Written: TREC runs, and jsonl for ids that hold spaces,
which a TREC run cannot carry.
"""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from retrolex.collection.readers.qrels import is_header
from retrolex.errors import UserError

if TYPE_CHECKING:
    from retrolex.collection.documents import Qrels
    from retrolex.index.base import Run

LARGEST_GRADE = 10**9 - 1  # trec_eval counts in 32 bits
Format = Literal["trec", "jsonl", "msmarco", "tevatron"]
COLUMNS = {
    "trec": "query Q0 document rank score tag",
    "msmarco": "query, document, rank",
    "tevatron": "query, document, score",
    "jsonl": '{"query": "q1", "hits": [["d7", 12.5], ["d3", 11.0]]}',
}


def write_run(path: Path, run: Run, tag: str = "retrolex") -> None:
    """Write a run, hits in the order given: jsonl when the name ends in ``.jsonl``, otherwise TREC. Scores read back bit by bit.

    Raises:
        UserError: a TREC run is asked for and an id is empty or holds white space, or a score is not finite.
    """
    path = Path(path)
    jsonl = path.suffix == ".jsonl"
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            for query, hits in run.items():
                pairs = [(document, float(score)) for document, score in hits]
                _check(path, query, pairs, spaces=jsonl)
                if jsonl:
                    file.write(json.dumps({"query": query, "hits": pairs}, ensure_ascii=False) + "\n")
                else:
                    file.writelines(f"{query} Q0 {document} {rank} {score!r} {tag}\n" for rank, (document, score) in enumerate(pairs, 1))
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_run(path: Path, form: Format | None = None) -> Run:
    """Read a run of any of the formats; `form` names it where looking at the file is not enough.

    Hits come back sorted by score, equal scores in the order of the file. Without `form`, three columns are taken for
    MS MARCO's when the third counts 1, 2, 3 ... (or, as PyTerrier does, 0, 1, 2 ...) for every query, and for Tevatron's
    otherwise. A rank r, counted from 1, is read as the score 1/r.

    Raises:
        UserError: with file and line, when a line is not of the format, names a document twice, or its score is no finite number.
    """
    path = Path(path)
    rows = _jsonl_rows(path) if (form or _first(path)) == "jsonl" else _text_rows(path, form)
    run: Run = {}
    seen: dict[str, set[str]] = {}
    for number, query, document, score in rows:
        hits = run.setdefault(query, [])
        if document is None:  # jsonl says of a query that it has no hit; the other formats cannot
            continue
        if document in seen.setdefault(query, set()):
            raise UserError(f"query {query!r} names document {document!r} twice", where=f"{path}:{number}", mend="keep one hit a document, the best")
        seen[query].add(document)
        hits.append((document, score))
    for hits in run.values():
        hits.sort(key=lambda hit: -hit[1])
    return run


def read_qrels(path: Path) -> Qrels:
    """Read judgments: BEIR's three columns (with or without a header; tabs let ids hold spaces) or TREC's four.

    Raises:
        UserError: with file and line, when a line is neither, a grade is no whole number, or one document gets two grades.
    """
    qrels: Qrels = {}
    for position, (number, line) in enumerate(_lines(Path(path))):
        fields = _split(line)
        where = f"{path}:{number}"
        if len(fields) not in (3, 4):
            raise UserError(
                f"{len(fields)} columns, expected 3 (query, document, grade) or 4 (query, 0, document, grade)",
                where=where,
                mend="separate the columns by tabs",
            )
        query, document, grade = fields[0], fields[-2], fields[-1]
        value = _number(grade)
        if position == 0 and is_header(fields):
            continue
        if value is None or value != int(value) or abs(value) > LARGEST_GRADE:
            raise UserError(f"the grade is {grade!r}, expected a whole number such as 0, 1 or 2", where=where)
        if qrels.setdefault(query, {}).setdefault(document, int(value)) != int(value):
            raise UserError(
                f"query {query!r} and document {document!r} have two grades, {qrels[query][document]} and {int(value)}",
                where=where,
                mend="keep one of the two lines",
            )
    if not qrels:
        raise UserError("no judgments here", where=path, mend="expected lines of query, document and grade, separated by tabs")
    return qrels


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not blank, of a plain or gzipped UTF-8 file."""
    if not path.is_file():
        raise UserError("no such file", where=path, mend="check the path")
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8-sig") if path.suffix == ".gz" else open(path, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise UserError(f"not a UTF-8 text file: {error}", where=f"{path}:{number + 1}", mend="convert it to UTF-8") from None


def _first(path: Path) -> str | None:
    """ "jsonl" when the first line begins a JSON object."""
    _, line = next(_lines(path), (0, ""))
    return "jsonl" if line.lstrip().startswith("{") else None


def _split(line: str) -> list[str]:
    """Columns by tabs when there are any, so that ids may hold spaces; else by white space."""
    return [field.strip() for field in line.split("\t")] if "\t" in line else line.split()


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _jsonl_rows(path: Path) -> Iterator[tuple[int, str, str | None, float]]:
    for number, line in _lines(path):
        try:
            entry = json.loads(line)
            query, hits = str(entry["query"]), [(str(document), float(score)) for document, score in entry["hits"]]
        except (ValueError, TypeError, KeyError):
            _refuse(path, number, "jsonl")
        if not hits:
            yield number, query, None, 0.0
        for document, score in hits:
            if not math.isfinite(score):
                _refuse(path, number, "jsonl")
            yield number, query, document, score


def _text_rows(path: Path, form: Format | None) -> Iterator[tuple[int, str, str, float]]:
    rows, width = [], 6 if form == "trec" else 3 if form else 0
    for number, line in _lines(path):
        fields = _split(line)
        width = width or len(fields)
        score = _number(fields[4 if width == 6 else 2]) if len(fields) == width and width in (3, 6) else None
        if score is None:
            _refuse(path, number, form or ("trec" if width == 6 else "tevatron" if width == 3 else None))
        rows.append((number, fields[0], fields[2 if width == 6 else 1], score))
    if form == "msmarco" or (form is None and width == 3 and _counts_up(rows)):
        zero = any(rank == 0 for *_, rank in rows)
        for number, _, _, rank in rows:
            if rank < 0 or rank != int(rank):
                _refuse(path, number, "msmarco")
        rows = [(number, query, document, 1 / (rank + zero)) for number, query, document, rank in rows]
    yield from rows


def _counts_up(rows: list[tuple[int, str, str, float]]) -> bool:
    """Whether the third column counts upwards by one for every query, from 1 or from 0."""
    following: dict[str, float] = {}
    first = rows[0][3] if rows else 0
    for _, query, _, value in rows:
        if first not in (0, 1) or value != following.get(query, first):
            return False
        following[query] = value + 1
    return True


def _refuse(path: Path, number: int, form: str | None) -> NoReturn:
    wanted = f"a line of a {form} run: {COLUMNS[form]}" if form else "6 columns (TREC), 3 columns (MS MARCO, Tevatron) or jsonl"
    mend = "ids that hold spaces need jsonl, or tabs between the columns" if form != "jsonl" else "one JSON object a line, scores finite"
    raise UserError(f"this is not {wanted}", where=f"{path}:{number}", mend=mend)


def _check(path: Path, query: str, pairs: list[tuple[str, float]], spaces: bool) -> None:
    for name in (query, *(document for document, _ in pairs)):
        if not spaces and (not name or len(name.split()) != 1 or name != name.strip()):
            mend = f"write {path.with_suffix('.jsonl').name} instead: jsonl carries any id"
            raise UserError(f"the id {name!r} is empty or holds white space, which a TREC run cannot carry", where=path, mend=mend)
    for document, score in pairs:
        if not math.isfinite(score):
            raise UserError(f"query {query!r}, document {document!r}: the score is {score}, expected a finite number", where=path)
