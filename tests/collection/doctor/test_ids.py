"""Ids that are used twice, or that other programs break."""

from __future__ import annotations

import gzip

from tests.collection.doctor.conftest import rows


def test_duplicate_ids_of_documents_and_queries(beir, findings):
    corpus = [{"_id": id, "text": f"text {number}"} for number, id in enumerate(["a", "b", "a", "c", "b", "a", "a"])]
    queries = [{"_id": id, "text": f"query {number}"} for number, id in enumerate(["q", "r", "q"])]
    assert findings(beir(corpus, queries)) == {
        "duplicate document ids": ("error", 4, ["corpus.jsonl:3", "corpus.jsonl:5", "corpus.jsonl:6"]),
        "duplicate query ids": ("error", 1, ["queries.jsonl:3"]),
    }


def test_lines_are_counted_in_the_file_also_when_it_is_packed(write, findings):
    packed = gzip.compress(b'{"_id": "a", "text": "x y"}\n\n   \n{"_id": "a", "text": "z"}\n')
    assert findings(write("a.jsonl.gz", packed)) == {"duplicate document ids": ("error", 1, ["a.jsonl.gz:4"])}


def test_a_row_of_several_lines_stands_at_its_first(write, findings):
    source = write("a.csv", 'id,text\n1,"one\ntwo\nthree"\n2,four\n1,"five\nsix"\n')
    assert findings(source) == {"duplicate document ids": ("error", 1, ["a.csv:6"])}


def test_white_space_and_zeros(beir, findings):
    corpus = [{"_id": id, "text": f"text {number}"} for number, id in enumerate(["7", "007", "a b", " c", "d\te", "f\ng", "0", "0x", "08"])]
    assert findings(beir(corpus)) == {
        "document ids that look alike": ("warning", 1, ["corpus.jsonl:2"]),
        "ids with white space": ("warning", 4, ["corpus.jsonl:3", "corpus.jsonl:4", "corpus.jsonl:5"]),
        "ids with leading zeros": ("note", 2, ["corpus.jsonl:2", "corpus.jsonl:9"]),
    }


def test_numbers_among_texts(beir, findings):
    corpus = (
        '{"_id": "1", "text": "a \\"_id\\": 5"}\n{"_id": 2, "text": "b"}\n\n{"meta": {"id": 3}, "_id": "3", "text": "c"}\n{"_id": 4, "text": "d"}\n'
    )
    name = "ids that are numbers among ids that are text"
    assert findings(beir(corpus)) == {name: ("warning", 2, ["corpus.jsonl:2", "corpus.jsonl:5"])}


def test_a_number_and_a_text_that_are_one_id(write, findings):
    found = findings(write("a.jsonl", '{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}\n'))
    assert found["duplicate document ids"] == ("error", 1, ["a.jsonl:2"])
    assert found["ids that are numbers among ids that are text"] == ("warning", 1, ["a.jsonl:1"])


def test_ids_that_are_all_numbers_or_no_ids_at_all(write, findings):
    assert findings(write("numbers.jsonl", rows({"id": 1, "text": "a"}, {"id": 2, "text": "b"}))) == {}
    assert findings(write("none.jsonl", rows({"text": "a"}, {"text": "b"}))) == {}


def test_parquet_rows(tmp_path, findings):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": ["a", "b", "b"], "text": ["x", "y", "z"]}), tmp_path / "a.parquet")
    assert findings(tmp_path / "a.parquet") == {"duplicate document ids": ("error", 1, ["a.parquet:3"])}
