"""Texts: empty ones, and ones that occur twice."""

from __future__ import annotations

from retrolex.collection.doctor.findings import Finding, Tally
from retrolex.collection.doctor.ledger import Ledger, Rows


def findings(ledger: Ledger) -> list[Finding]:
    """What is wrong with the texts. Two texts are the same when they differ in capitals and white space only."""
    mend = "delete these rows or fill in their text, for an empty document is never found"
    found = _empty(ledger, ledger.documents, "no title and no text").finding("empty documents", "warning", mend)
    mend = "keep one of each, or judge all of them, for an unjudged copy of a relevant document counts as wrong"
    found += _repeated(ledger, ledger.documents).finding("duplicate documents", "warning", mend)
    found += _empty(ledger, ledger.queries, "no text").finding("empty queries", "warning", "delete these queries or fill in their text")
    mend = "join these queries under one id, or keep them knowing that each counts in the average"
    return found + _repeated(ledger, ledger.queries).finding("duplicate queries", "note", mend)


def _empty(ledger: Ledger, rows: Rows, what: str) -> Tally:
    tally = Tally()
    for row, hash in enumerate(rows.whole):
        if hash == 0:
            tally.add(ledger.place(rows.places[row]), what)
    return tally


def _repeated(ledger: Ledger, rows: Rows) -> Tally:
    tally = Tally()
    for row, first in rows.repeats("whole"):
        tally.add(ledger.place(rows.places[row]), f"the same text as at {ledger.place(rows.places[first])}")
    return tally
