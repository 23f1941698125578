"""Judgments that point to nothing, and queries that nothing points to."""

from __future__ import annotations

from collections import Counter

from retrolex.collection.doctor.findings import Finding, Severity, Tally
from retrolex.collection.doctor.ledger import Ledger, Rows, hash_of, loose
from retrolex.collection.documents import Document, Judgment, Query
from retrolex.collection.readers.records import Place, shortened


class Judgments:
    """Looks up both ends of every judgment; documents and queries have been read before the first of them."""

    def __init__(self, ledger: Ledger):
        self._ledger = ledger
        self.nowhere = Tally()
        self._judgments: Counter[str] = Counter()
        self._missing: Counter[str] = Counter()
        self._alike = 0

    def see(self, item: Document | Query | Judgment, place: Place) -> None:
        """One more row."""
        if not isinstance(item, Judgment):
            return
        self._judgments[item.split] += 1
        documents = self._ledger.documents
        if documents.find("ids", hash_of(item.document)) is None:
            self._missing[item.split] += 1
            self._alike += _has_like(documents, item.document)
            self.nowhere.add(place, f"no document {shortened(item.document)}")

    def findings(self, ledger: Ledger) -> list[Finding]:
        """What is wrong with the judgments. An error is what leaves a split with nothing to measure."""
        judged = {query for split in ledger.judged.values() for query in split}
        lost = any(self._missing[split] == count for split, count in self._judgments.items())
        mend = "add the missing documents or delete their judgments, for they lower the best possible figure"
        found = self.nowhere.finding("judgments of documents that are not here", _severity(lost), mend + _hint(self._alike))
        textless, alike, dumb = Tally(), 0, False
        for split in ledger.judged.values():
            missing = [query for query in split if ledger.queries.find("ids", hash_of(query)) is None]
            dumb = dumb or len(missing) == len(split)
            alike += sum(_has_like(ledger.queries, query) for query in missing)
            for query in missing:
                textless.add(ledger.place(split[query]), f"no query {shortened(query)}")
        mend = "add the missing queries or delete their judgments, for a query that cannot be asked counts 0"
        found += textless.finding("judged queries without a text", _severity(dumb), mend + _hint(alike))
        found += self._unjudged(ledger, judged)
        return found + self._without_relevant(ledger)

    def _unjudged(self, ledger: Ledger, judged: set[str]) -> list[Finding]:
        tally, hashes = Tally(), set(map(hash_of, judged))
        for row, id in enumerate(ledger.queries.ids if judged else ()):
            if id not in hashes:
                tally.add(ledger.place(ledger.queries.places[row]), "a query without judgments")
        return tally.finding("queries without judgments", "note", "judge them, or leave them out, for they are searched but not measured")

    def _without_relevant(self, ledger: Ledger) -> list[Finding]:
        tally = Tally()
        for split, queries in ledger.judged.items():
            for query, place in queries.items():
                if query not in ledger.relevant[split]:
                    tally.add(ledger.place(place), f"query {shortened(query)} has no grade of 1 or more")
        mend = "find a relevant document for each, or leave them out, for there is nothing they could find"
        return tally.finding("judged queries without a relevant document", "note", mend)


def _has_like(rows: Rows, id: str) -> bool:
    return rows.find("loose", hash_of(loose(id))) is not None


def _severity(nothing_left: bool) -> Severity:
    return "error" if nothing_left else "warning"


def _hint(alike: int) -> str:
    return f" (without leading zeros and white space {alike:,} of them would match: write ids alike everywhere)" if alike else ""
