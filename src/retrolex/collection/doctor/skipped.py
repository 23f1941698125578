"""Rows that a reader has to skip, and the row at which it has to stop."""

from __future__ import annotations

from retrolex.collection.doctor.findings import Finding, Tally
from retrolex.collection.readers.records import Place
from retrolex.errors import UserError


class Skipped:
    """Counts rejects."""

    def __init__(self) -> None:
        self.tally = Tally()

    def see(self, place: Place, reason: str) -> None:
        """One more row."""
        self.tally.add(place, reason)

    def findings(self) -> list[Finding]:
        """The rows that are left out."""
        mend = "mend or delete these rows, which a run lists in collection/rejects.jsonl"
        return self.tally.finding("rows that are left out", "warning", mend)


def stopped(error: UserError, place: Place) -> list[Finding]:
    """Reading stopped in the middle: what has been seen so far is still told."""
    tally = Tally()
    tally.add(place, error.what)
    mend = f"{error.mend or 'mend this row'}; then check again, for what follows it has not been looked at"
    return tally.finding("reading stopped", "error", mend)
