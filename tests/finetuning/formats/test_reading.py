"""Files as other tools write them, rows that are not of the format, and what training makes of rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrolex.collection.readers.records import Reject
from retrolex.errors import UserError
from retrolex.finetuning.formats import FORMATS, Passage, Row, read_rows, resolve, training_set, write_rows
from retrolex.finetuning.pairs import pseudo_id


def read(path: Path, name: str, *lines: object) -> list[Row | Reject]:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return list(read_rows(path, name))


def passages(*values: str, key: str = "id") -> tuple[Passage, ...]:
    return tuple(Passage(**{key: value}) for value in values)


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        (
            "tevatron",
            {"query_id": "q1", "query_text": "what", "query_image": None, "positive_document_ids": ["d1"], "negative_document_ids": ["d2", "d3"]},
            Row("q1", "what", passages("d1"), passages("d2", "d3")),
        ),
        (
            "tevatron-passages",
            {"query_id": "q1", "query": "what", "positive_passages": [{"docid": "d1", "title": None, "text": "x"}], "negative_passages": []},
            Row("q1", "what", (Passage("d1", "x"),), ()),
        ),
        (
            "flagembedding",
            {"query": "what", "pos": ["x"], "neg": ["y", "z"], "pos_scores": [9], "neg_scores": [1.5, -2], "prompt": "Find it"},
            Row("", "what", (Passage(text="x", score=9.0),), (Passage(text="y", score=1.5), Passage(text="z", score=-2.0))),
        ),
        ("flagembedding", {"query": "what", "pos": ["x"], "neg": []}, Row("", "what", (Passage(text="x"),), ())),
        (
            "sbert",
            {"qid": 7, "pos": [3], "neg": {"bm25": [5, 6], "msmarco-distilbert": [5], "empty": []}},
            Row("7", None, passages("3"), (Passage("5", miner="bm25"), Passage("6", miner="bm25"), Passage("5", miner="msmarco-distilbert"))),
        ),
        (
            "sentence-transformers",
            {"question": "what", "answer": "x", "wrong": "y", "scores": [0.9, 0.2]},
            Row("", "what", (Passage(text="x", score=0.9),), (Passage(text="y", score=0.2),)),
        ),
        ("sentence-transformers", {"sentence1": "a", "sentence2": "b", "label": 1}, Row("", "a", (Passage(text="b", score=1.0),), ())),
        ("msmarco-ids", "400296\t1540783\t3518497", Row("400296", None, passages("1540783"), passages("3518497"))),
        ("msmarco-ids", "400296 1540783 3518497", Row("400296", None, passages("1540783"), passages("3518497"))),
        ("msmarco-texts", "what\tx\t", Row("", "what", passages("x", key="text"), passages("", key="text"))),
    ],
)
def test_files_of_other_tools(tmp_path: Path, name: str, line, expected: Row) -> None:
    assert read(tmp_path / "rows", name, line) == [expected]


GOOD = {
    "retrolex": {"query_id": "q", "query": "what", "positives": [{"id": "d"}], "negatives": []},
    "sentence-transformers": {"anchor": "a", "positive": "b"},
    "tevatron": {"query_id": "q", "query_text": "what", "positive_document_ids": ["d"], "negative_document_ids": []},
    "tevatron-passages": {"query": "what", "positive_passages": [{"docid": "d", "text": "x"}], "negative_passages": []},
    "flagembedding": {"query": "what", "pos": ["x"], "neg": []},
    "sbert": {"qid": "q", "pos": ["d"], "neg": {}},
    "msmarco-ids": "q\td\te",
    "msmarco-texts": "q\td\te",
}


@pytest.mark.parametrize(
    ("name", "bad", "words"),
    [
        ("retrolex", {"query_id": "q", "positives": ["d"], "negatives": []}, "an object was expected"),
        ("retrolex", {"query_id": "q", "positives": [{"id": "d", "colour": 1}], "negatives": []}, "'colour'"),
        ("retrolex", {"query_id": "q", "positives": [{"id": "d", "rank": "1"}], "negatives": []}, "whole number"),
        ("sentence-transformers", {"anchor": "a"}, "at least an anchor and a positive"),
        ("sentence-transformers", {"anchor": "a", "positive": None}, "holds null"),
        ("sentence-transformers", {"anchor": "a", "positive": "b", "scores": [1.0, 2.0]}, "2 scores in 'scores' for 1 passages"),
        ("tevatron", {"query_id": "q", "query_text": "what", "positive_document_ids": ["d"]}, "no 'negative_document_ids' in this row"),
        ("tevatron", {"query_id": 1.5, "query_text": "what", "positive_document_ids": [], "negative_document_ids": []}, "an id was expected"),
        ("tevatron", {"query_id": "q", "query_text": "what", "positive_document_ids": "d", "negative_document_ids": []}, "a list was expected"),
        ("tevatron-passages", {"query": "what", "positive_passages": ["x"], "negative_passages": []}, "docid, title and text"),
        ("flagembedding", {"query": "what", "pos": "x", "neg": []}, "a list was expected"),
        ("flagembedding", {"query": "what", "pos": ["x"], "neg": ["y"], "neg_scores": [True]}, "a finite number was expected"),
        ("flagembedding", {"query": "half \ud800", "pos": [], "neg": []}, "surrogate"),
        ("sbert", {"qid": "q", "pos": ["d"], "neg": ["e"]}, "the name of each miner"),
        ("msmarco-ids", "q\td", "2 columns, expected 3"),
        ("msmarco-ids", "q\t\te", "the positive id is empty"),
        ("msmarco-texts", "a\tb\tc\td", "4 columns, expected 3"),
        ("tevatron", "not json", "not JSON"),
    ],
)
def test_a_bad_row_is_named_with_file_and_line(tmp_path: Path, name: str, bad, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        read(tmp_path / "rows.jsonl", name, GOOD[name], bad)
    assert f"{tmp_path / 'rows.jsonl'}:2" in str(caught.value)


@pytest.mark.parametrize("name", GOOD)
def test_a_line_that_is_not_utf8_is_one_reject(tmp_path: Path, name: str) -> None:
    good = GOOD[name] if isinstance(GOOD[name], str) else json.dumps(GOOD[name])
    (tmp_path / "rows.jsonl").write_bytes(good.encode() + b"\n\xff\xfe\n" + good.encode() + b"\n")
    rows = list(read_rows(tmp_path / "rows.jsonl", name))
    assert [isinstance(row, Reject) for row in rows] == [False, True, False] and rows[1].place.line == 2


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(UserError, match="not a Parquet file"):
        list(read_rows(tmp_path / "rows.parquet", "sentence-transformers"))


def test_names_that_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no format of training rows is called 'tevatrom'"):
        write_rows(tmp_path / "rows.jsonl", "tevatrom", [])
    with pytest.raises(UserError, match=r"is not written to \.csv"):
        write_rows(tmp_path / "rows.csv", "tevatron", [])
    with pytest.raises(UserError, match="no such folder"):
        write_rows(tmp_path / "absent" / "rows.jsonl", "tevatron", [])
    with pytest.raises(UserError, match="no such file"):
        read_rows(tmp_path / "rows.jsonl", "tevatron")
    assert all(form.about for form in FORMATS.values())


def test_ids_are_looked_up_or_rejected(labelled) -> None:
    rows = [
        Row("q-wing", None, passages("d-wing"), passages("d-file")),
        Row("q-nowhere", None, passages("d-wing"), ()),
        Row("q-wing", None, passages("d-wing"), passages("d-nowhere")),
    ]
    first, *rejects = resolve(rows, labelled)
    assert first.query == "what is wing" and first.positives[0].full == labelled[labelled.position("d-wing")].full
    assert [reject.reason for reject in rejects] == ["no query 'q-nowhere' in the collection", "no document 'd-nowhere' in the collection"]


def test_rows_become_what_training_takes() -> None:
    """Two positives give two pairs; copies share an original; a negative with a positive's text goes, and is counted."""
    positives = (Passage("d1", "lift", "Wing"), Passage(text="drag"))
    negatives = (Passage("d2", "Wing  LIFT"), Passage("d3", "bread", miner="bm25", rank=4, mined_score=2.5), Passage(text="bread"))
    found = training_set([Row("", "what", positives, negatives)])
    assert [(pair.query, pair.positive, pair.query_id) for pair in found.pairs] == [
        ("what", "Wing lift", pseudo_id("what")),
        ("what", "drag", pseudo_id("what")),
    ]
    one, other = found.negatives[0]
    assert (one.document, one.original, one.miner, one.rank, one.score) == ("d3", "d3", "bm25", 4, 2.5)
    assert other.original == "d3" and found.texts[other.document] == "bread" and other.miner == "given"
    assert found.removed == 1 and found.negatives[1] == found.negatives[0]


def test_a_querys_other_positives_are_no_negatives_in_any_row() -> None:
    """Formats of one positive a row cannot say so themselves."""
    rows = [Row("", "what", passages(positive, key="text"), passages("lift", "bread", key="text")) for positive in ("drag", "lift")]
    found = training_set([*rows, Row("", "other", passages("bread", key="text"), passages("lift", key="text"))])
    assert [[found.texts[negative.document] for negative in row] for row in found.negatives] == [["bread"], ["bread"], ["lift"]]
    assert found.removed == 2


def test_rows_that_cannot_be_trained_on() -> None:
    with pytest.raises(UserError, match="without a positive"):
        training_set([Row("q", "what", (), ())])
    with pytest.raises(UserError, match="names its texts only"):
        training_set([Row("q", "what", passages("d1"), ())])
