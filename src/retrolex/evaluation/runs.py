"""Runs and judgments on disk, in the formats that retrieval tools exchange.

Read: TREC runs (trec_eval, Anserini, Pyserini, PyTerrier; the second column may hold anything), jsonl, MS MARCO (query, passage,
rank) and Tevatron (query, passage, score), any of them gzipped. Written: TREC runs, and jsonl for ids that hold spaces,
which a TREC run cannot carry.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from retrolex.collection.readers.qrels import is_header
from retrolex.errors import UserError
from retrolex.index.run_rows import Format, columns, lines, run_hits

if TYPE_CHECKING:
    from retrolex.collection.documents import Qrels
    from retrolex.index.base import Run

LARGEST_GRADE = 10**9 - 1  # trec_eval counts in 32 bits


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

    Hits come back sorted by score, equal scores in the order of the file; formats and ranks are told apart as in `index.run_rows`.

    Raises:
        UserError: with file and line, when a line is not of the format, names a document twice, or its score is no finite number.
    """
    path = Path(path)
    run: Run = {}
    seen: dict[str, set[str]] = {}
    for line, query, document, score in run_hits(path, form):
        hits = run.setdefault(query, [])
        if document is None:
            continue
        if document in seen.setdefault(query, set()):
            raise UserError(f"query {query!r} names document {document!r} twice", where=f"{path}:{line}", mend="keep one hit a document, the best")
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
    for position, (number, line) in enumerate(lines(Path(path))):
        fields = columns(line, (3, 4))
        where = f"{path}:{number}"
        if len(fields) not in (3, 4):
            raise UserError(
                f"{len(fields)} columns, expected 3 (query, document, grade) or 4 (query, 0, document, grade)",
                where=where,
                mend="separate the columns by tabs",
            )
        query, document, grade = fields[0], fields[-2], fields[-1]
        if not query or not document:
            raise UserError("an empty id", where=where, mend="give every query and document an id")
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


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _check(path: Path, query: str, pairs: list[tuple[str, float]], spaces: bool) -> None:
    for name in (query, *(document for document, _ in pairs)):
        if not spaces and (not name or len(name.split()) != 1 or name != name.strip()):
            mend = f"write {path.with_suffix('.jsonl').name} instead: jsonl carries any id"
            raise UserError(f"the id {name!r} is empty or holds white space, which a TREC run cannot carry", where=path, mend=mend)
    for document, score in pairs:
        if not math.isfinite(score):
            raise UserError(f"query {query!r}, document {document!r}: the score is {score}, expected a finite number", where=path)
