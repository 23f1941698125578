"""Pains 12 and 13, before any run: ids that queries and documents share by chance are told from queries that are documents."""

from __future__ import annotations

import json

from retrolex.collection.doctor import examine
from retrolex.collection.doctor.token_counts import token_counter


def test_document_5_and_the_query_that_is_a_document(tmp_path):
    corpus = [{"_id": "5", "text": "wings"}, {"_id": "a1", "text": "An argument for zoos."}]
    queries = [{"_id": "5", "text": "what is lift?"}, {"_id": "a1", "text": "an argument for  zoos."}]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = {finding.name: finding for finding in examine(tmp_path, counter=token_counter("words")).findings}
    chance, itself = found["queries and documents with the same id"], found["queries that are documents"]
    assert (chance.count, str(chance.examples[0].place)) == (1, "queries.jsonl:1") and "keep self hits" in chance.mend
    assert (itself.count, str(itself.examples[0].place)) == (1, "queries.jsonl:2") and "--self-hits remove" in itself.mend
