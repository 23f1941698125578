"""Test queries that training sees, and queries that find themselves."""

from __future__ import annotations

import pytest

CORPUS = [{"_id": id, "title": f"About {id}", "text": f"a body of text on {id}"} for id in ("1", "2", "3")]


def test_one_query_and_one_text_in_two_splits(beir, findings):
    queries = [{"_id": "q1", "text": "first"}, {"_id": "q2", "text": "second"}, {"_id": "q3", "text": "Second "}, {"_id": "q4", "text": "fourth"}]
    folder = beir(CORPUS, queries, train=[("q1", "1", 1), ("q2", "2", 1)], dev=[("q4", "1", 1)], test=[("q3", "3", 1), ("q1", "2", 1)])
    assert findings(folder) == {
        "queries in two splits": ("warning", 1, ["qrels/test.tsv:2"]),
        "query texts in two splits": ("warning", 1, ["queries.jsonl:3"]),
        "duplicate queries": ("note", 1, ["queries.jsonl:3"]),
    }


def test_the_query_to_leave_out_is_never_the_training_one(beir, findings):
    queries = [{"_id": "t", "text": "same"}, {"_id": "d", "text": "same"}]
    found = findings(beir(CORPUS, queries, dev=[("d", "1", 1)], train=[("t", "1", 1)]))
    assert found["query texts in two splits"] == ("warning", 1, ["queries.jsonl:2"])


@pytest.mark.parametrize(("split", "count"), [("test", 2), ("train", 0)])
def test_test_queries_that_stand_among_the_documents(beir, findings, split, count):
    queries = [{"_id": "q1", "text": "A body of  text on 2"}, {"_id": "q2", "text": "about 3 a body of text on 3"}, {"_id": "q3", "text": "About 1"}]
    found = findings(beir(CORPUS, queries, **{split: [("q1", "2", 1), ("q2", "1", 1), ("q3", "1", 1)]}))
    expected = {"test queries that stand among the documents": ("warning", 2, ["queries.jsonl:1", "queries.jsonl:2"])} if count else {}
    assert found == expected


def test_a_query_that_is_a_document_is_no_coincidence_of_numbers(beir, findings):
    queries = [{"_id": "1", "text": "about 1"}, {"_id": "2", "text": "something else"}, {"_id": "3", "text": "About 3 a body of text on 3"}]
    assert findings(beir(CORPUS, queries)) == {
        "queries that are documents": ("warning", 2, ["queries.jsonl:1", "queries.jsonl:3"]),
        "queries and documents with the same id": ("note", 1, ["queries.jsonl:2"]),
    }
