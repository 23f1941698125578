"""Judgments: `query document grade` or `query 0 document grade`, separated by tabs or, without any tab, by spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.documents import Judgment
from retrolex.collection.readers.lines import read_lines
from retrolex.collection.readers.records import Found, Place, Reject
from retrolex.errors import UserError

GRADE = re.compile(r"[+-]?[0-9]{1,9}(\.0*)?")
GRADE_NAMES = ("score", "grade", "rel", "relevance", "label", "judgment", "judgement")


def read_qrels(path: Path, split: str) -> Iterator[Found | Reject]:
    """The judgments of one file, with or without a header.

    Equal lines are rejects from the second on.

    Raises:
        UserError: a line of another shape, or two different grades for one pair.
    """
    seen: dict[tuple[str, str], tuple[int, Place]] = {}
    mend = "write query, document and grade, separated by tabs; the grade is a whole number"
    for number, line in enumerate(read_lines(path)):
        if isinstance(line, Reject):
            raise UserError(line.reason, where=line.place, mend="convert the file to UTF-8")
        fields = line.text.split("\t") if "\t" in line.text else line.text.split()
        if number == 0 and fields[-1].strip().lower() in GRADE_NAMES:
            continue
        if len(fields) not in (3, 4) or not fields[0].strip() or not fields[-2].strip():
            raise UserError(f"not a judgment: {line.text[:80]!r}", where=line.place, mend=mend)
        query, document, grade = fields[0], fields[-2], fields[-1].strip()
        if not GRADE.fullmatch(grade):
            raise UserError(f"the grade {grade[:40]!r} is not a whole number", where=line.place, mend=mend)
        judgment = Judgment(split, query, document, int(grade.partition(".")[0]))
        if (query, document) not in seen:
            seen[query, document] = judgment.grade, line.place
            yield Found(judgment, line.place)
            continue
        before, place = seen[query, document]
        if before != judgment.grade:
            what = f"query {query!r} and document {document!r} have grade {judgment.grade} here and {before} at {place}"
            raise UserError(what, where=line.place, mend="keep one of the two lines")
        yield Reject(line.place, f"the same judgment as at {place}")
