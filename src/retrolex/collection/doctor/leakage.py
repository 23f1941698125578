"""Leakage: test queries that training sees, and queries that find themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from retrolex.collection.doctor.findings import Finding, Tally
from retrolex.collection.doctor.ledger import Ledger, hash_of
from retrolex.collection.readers.records import shortened


def findings(ledger: Ledger) -> list[Finding]:
    """What makes measured figures better than they are."""
    return [*_shared_ids(ledger), *_shared_texts(ledger), *_queries_among_documents(ledger), *_self_retrieval(ledger)]


def _pairs(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Pairs of splits, `train` first where it is one of the two, so that the other's queries are the ones to leave out."""
    return combinations(sorted(ledger.judged, key=lambda split: (split != "train", split)), 2)


def _shared_ids(ledger: Ledger) -> list[Finding]:
    tally = Tally()
    for one, other in _pairs(ledger):
        for query, number in ledger.judged[other].items():
            if query in ledger.judged[one]:
                where = ledger.place(ledger.judged[one][query])
                tally.add(ledger.place(number), f"query {shortened(query)} of {other} is also in {one}, at {where}")
    return tally.finding("queries in two splits", "warning", "give every query to one split only")


def _shared_texts(ledger: Ledger) -> list[Finding]:
    queries, tally = ledger.queries, Tally()
    rows = {split: [row for row in (queries.find("ids", hash_of(id)) for id in judged) if row is not None] for split, judged in ledger.judged.items()}
    for one, other in _pairs(ledger):
        texts = {queries.whole[row]: row for row in reversed(rows[one]) if queries.whole[row]}
        for row in rows[other]:
            first = texts.get(queries.whole[row])
            if first is not None and queries.ids[first] != queries.ids[row]:
                where = ledger.place(queries.places[first])
                tally.add(ledger.place(queries.places[row]), f"a query of {other} with the same text as one of {one}, at {where}")
    return tally.finding("query texts in two splits", "warning", "keep the text in one split only, or both in the same")


def _queries_among_documents(ledger: Ledger) -> list[Finding]:
    """Test queries whose text is a whole document, under another id; without judgments, all queries are test queries."""
    documents, queries, tally = ledger.documents, ledger.queries, Tally()
    asked = {hash_of(query) for split, judged in ledger.judged.items() if split != "train" for query in judged}
    for row, id in enumerate(queries.ids):
        if queries.whole[row] and (id in asked or not ledger.judged):
            found = documents.find("whole", queries.whole[row])
            found = documents.find("body", queries.whole[row]) if found is None else found
            if found is not None and documents.ids[found] != id:
                tally.add(ledger.place(queries.places[row]), f"its text is the document at {ledger.place(documents.places[found])}")
    mend = "leave these documents out, or these queries, for training on the documents shows the test queries"
    return tally.finding("test queries that stand among the documents", "warning", mend)


def _self_retrieval(ledger: Ledger) -> list[Finding]:
    documents, queries = ledger.documents, ledger.queries
    same, unrelated = Tally(), Tally()
    for row, id in enumerate(queries.ids):
        found = documents.find("ids", id)
        if found is None:
            continue
        place, where = ledger.place(queries.places[row]), ledger.place(documents.places[found])
        if queries.whole[row] and queries.whole[row] in (documents.whole[found], documents.body[found], documents.title[found]):
            same.add(place, f"the query is the document at {where}")
        else:
            unrelated.add(place, f"the document at {where} has the same id and another text")
    mend = "measure with --self-hits remove, for otherwise every such query finds itself first"
    found_same = same.finding("queries that are documents", "warning", mend)
    mend = "keep self hits when measuring (the default here), for programs that remove them drop documents that share a query's id by chance"
    return found_same + unrelated.finding("queries and documents with the same id", "note", mend)
