"""Judgments that point to nothing, and queries that nothing points to."""

from __future__ import annotations

from retrolex.collection.doctor import examine

CORPUS = [{"_id": id, "text": f"the text of {id}"} for id in ("1", "2", "3")]
QUERIES = [{"_id": id, "text": f"which is {id}?"} for id in ("q1", "q2", "q3")]


def test_each_kind_of_loose_end(beir, findings):
    test = [("q1", "1", 1), ("q1", "9", 1), ("q2", "002", 0), ("q2", "3", 0), ("q9", "1", 1), ("q9", "2", 1)]
    folder = beir(CORPUS, QUERIES, test=test)
    assert findings(folder) == {
        "judgments of documents that are not here": ("warning", 2, ["qrels/test.tsv:2", "qrels/test.tsv:3"]),
        "judged queries without a text": ("warning", 1, ["qrels/test.tsv:5"]),
        "queries without judgments": ("note", 1, ["queries.jsonl:3"]),
        "judged queries without a relevant document": ("note", 1, ["qrels/test.tsv:3"]),
    }
    nowhere = examine(folder).findings[0]
    assert [example.what for example in nowhere.examples] == ["no document '9'", "no document '002'"]
    assert nowhere.mend.endswith("(without leading zeros and white space 1 of them would match: write ids alike everywhere)")


def test_a_split_with_nothing_to_measure_is_an_error(beir, findings):
    found = findings(beir(CORPUS, QUERIES, dev=[("q1", "1", 1), ("q2", "1", 1), ("q3", "2", 1)], test=[("q1 ", "1.txt", 1), ("q2 ", "2.txt", 1)]))
    assert found["judgments of documents that are not here"] == ("error", 2, ["qrels/test.tsv:1", "qrels/test.tsv:2"])
    assert found["judged queries without a text"] == ("error", 2, ["qrels/test.tsv:1", "qrels/test.tsv:2"])


def test_the_header_counts_as_a_line(beir, findings):
    folder = beir(CORPUS, QUERIES[:1], test=[("query-id", "corpus-id", "score"), ("q1", "1", 1), ("q1", "9", 1)])
    assert findings(folder) == {"judgments of documents that are not here": ("warning", 1, ["qrels/test.tsv:3"])}


def test_without_judgments_no_query_is_unjudged(beir, findings):
    assert findings(beir(CORPUS, QUERIES)) == {}
