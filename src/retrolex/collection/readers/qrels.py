"""Judgments: `query document grade` or `query 0 document grade`, separated by tabs or, without any tab, by spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from retrolex.collection.documents import Judgment
from retrolex.collection.readers.lines import read_lines
from retrolex.collection.readers.records import Found, Place, Reject, shortened
from retrolex.errors import UserError

GRADE = re.compile(r"[+-]?[0-9]{1,9}(\.0*)?")
QUERY_NAMES = ("query", "queryid", "qid", "topic", "topicid", "q")
DOCUMENT_NAMES = ("document", "documentid", "doc", "docid", "docno", "corpusid", "pid", "passageid", "did")
GRADE_NAMES = ("score", "grade", "rel", "relevance", "label", "judgment", "judgement")
MEND = "write query, document and grade, separated by tabs; the grade is a whole number"


def plain_name(name: str) -> str:
    """A column name in the spelling of the lists above: `corpus-id`, `Corpus_ID` and `corpusid` are one name."""
    return re.sub(r"[-_ #]", "", name).lower()


def is_header(fields: Sequence[str]) -> bool:
    """Whether a first line's fields (3, or 4 with the unused second one) name the columns rather than judge a document.

    The last must be a usual name of a grade, and the query's or the document's a usual name too. Anything else that has no
    number in the last place is a mistake, not a header; so is a header that names the document before the query.
    """
    if len(fields) not in (3, 4):
        return False
    query, document, grade = (plain_name(fields[place]) for place in (0, -2, -1))
    swapped = query in DOCUMENT_NAMES or document in QUERY_NAMES
    return grade in GRADE_NAMES and not swapped and (query in QUERY_NAMES or document in DOCUMENT_NAMES)


class Judgments:
    """Makes judgments of one split, each pair of query and document once."""

    def __init__(self, split: str):
        self._split = split
        self._seen: dict[tuple[str, str], tuple[int, Place]] = {}

    def take(self, query: str, document: str, grade: str, place: Place) -> Found | Reject:
        """One judgment; a reject when it has been made before.

        Raises:
            UserError: the grade is no whole number, or was another one before.
        """
        if not GRADE.fullmatch(grade):
            raise UserError(f"the grade {grade[:40]!r} is not a whole number", where=place, mend=MEND)
        value = int(grade.partition(".")[0])
        before, first = self._seen.setdefault((query, document), (value, place))
        if first == place:
            return Found(Judgment(self._split, query, document, value), place)
        if before != value:
            what = f"query {shortened(query)} and document {shortened(document)} have grade {value} here and {before} at {first}"
            raise UserError(what, where=place, mend="keep one of the two lines")
        return Reject(place, f"the same judgment as at {first}")


def read_qrels(path: Path, split: str) -> Iterator[Found | Reject]:
    """The judgments of one file, with or without a header (see `is_header`).

    Equal lines are rejects from the second on.

    Raises:
        UserError: a line of another shape, or two different grades for one pair.
    """
    judgments = Judgments(split)
    for number, line in enumerate(read_lines(path)):
        if isinstance(line, Reject):
            raise UserError(line.reason, where=line.place, mend="convert the file to UTF-8")
        fields = line.text.split("\t") if "\t" in line.text else line.text.split()
        if number == 0 and is_header([field.strip() for field in fields]):
            continue
        if len(fields) not in (3, 4) or not fields[0].strip() or not fields[-2].strip():
            raise UserError(f"not a judgment: {line.text[:80]!r}", where=line.place, mend=MEND)
        yield judgments.take(fields[0], fields[-2], fields[-1].strip(), line.place)
