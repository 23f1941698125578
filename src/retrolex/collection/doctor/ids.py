"""Ids: used twice, of a shape that other programs break, or written now as numbers and now as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from retrolex.collection.doctor.findings import EXAMPLES, Finding, Tally
from retrolex.collection.doctor.ledger import Ledger
from retrolex.collection.documents import Document, Judgment, Query
from retrolex.collection.readers.columns import NAMES, QUERY_NAMES
from retrolex.collection.readers.lines import open_bytes
from retrolex.collection.readers.records import Place, shortened
from retrolex.errors import UserError

ID_NAMES = tuple(dict.fromkeys(NAMES["id"] + QUERY_NAMES["id"]))
MAYBE_NUMBER = re.compile(rb'(?i)"(?:' + "|".join(ID_NAMES).encode() + rb')"\s*:\s*-?[0-9]')
ZEROS = re.compile(r"0[0-9]+")


class Ids:
    """Looks at every document's and every query's id."""

    def __init__(self) -> None:
        self.white, self.zeros = Tally(), Tally()

    def see(self, item: Document | Query | Judgment, place: Place) -> None:
        """One more row."""
        if isinstance(item, Judgment):
            return
        if any(map(str.isspace, item.id)):
            self.white.add(place, f"the id {shortened(item.id)}")
        elif ZEROS.fullmatch(item.id):
            self.zeros.add(place, f"the id {shortened(item.id)}")

    def findings(self, ledger: Ledger) -> list[Finding]:
        """What is wrong with the ids."""
        found = []
        for kind, rows in (("document", ledger.documents), ("query", ledger.queries)):
            same, alike = Tally(), Tally()
            for row, first in rows.repeats("ids"):
                same.add(ledger.place(rows.places[row]), f"the same id as at {ledger.place(rows.places[first])}")
            for row, first in rows.repeats("loose"):
                if rows.ids[row] != rows.ids[first]:
                    alike.add(ledger.place(rows.places[row]), f"like the id at {ledger.place(rows.places[first])}")
            found += same.finding(f"duplicate {kind} ids", "error", "give every row its own id, or delete the repeated rows")
            mend = "make these ids differ by more than leading zeros and white space at the ends, which other programs drop"
            found += alike.finding(f"{kind} ids that look alike", "warning", mend)
        mend = "replace spaces, tabs and line breaks in ids, here and in the judgments, for TREC runs separate their columns by white space"
        found += self.white.finding("ids with white space", "warning", mend)
        mend = "keep ids as text wherever they pass, for spreadsheets and data frames turn 007 into 7"
        return found + self.zeros.finding("ids with leading zeros", "note", mend)


def number_ids(paths: list[Path], shown: Callable[[Place], Place]) -> list[Finding]:
    """JSON lines files in which some ids are numbers and others text.

    The readers make every id text, so the bytes are looked at once more; only lines that may hold a number are parsed.
    """
    mixed = Tally()
    for path in paths:
        rows, numbers = 0, Tally()
        with suppress(UserError):  # where reading stopped is told elsewhere
            for line, raw in _lines(path):
                rows += 1
                if MAYBE_NUMBER.search(raw) and (id := _number(raw)) is not None:
                    numbers.add(shown(Place(str(path), line)), f"the id {id} is a number, others in this file are text")
        if 0 < numbers.count < rows:
            mixed.count += numbers.count
            mixed.examples += numbers.examples[: EXAMPLES - len(mixed.examples)]
    return mixed.finding("ids that are numbers among ids that are text", "warning", 'write every id as text, in quotation marks: "7", not 7')


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with open_bytes(path) as file:
        for line, raw in enumerate(file, 1):
            if not raw.isspace():
                yield line, raw


def _number(raw: bytes) -> int | None:
    """The row's id if it is a number."""
    try:
        values = json.loads(raw.decode("utf-8-sig"), strict=False)
    except (ValueError, RecursionError):
        return None
    usual = {name.strip().lower(): value for name, value in reversed(values.items())} if isinstance(values, dict) else {}
    id = next((usual[name] for name in ID_NAMES if name in usual), None)
    return id if isinstance(id, int) and not isinstance(id, bool) else None
