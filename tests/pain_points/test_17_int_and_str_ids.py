"""Pain 17: ids that are numbers in one file and strings in another never meet. Here every id is a `str`, from the first line on."""

from __future__ import annotations

from retrolex.collection import Collection, import_collection


def test_numbers_and_strings_are_the_same_ids(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "qrels").mkdir(parents=True)
    target.mkdir()
    (source / "corpus.jsonl").write_text('{"_id": 2, "text": "two"}\n{"_id": "007", "text": "seven"}\n', encoding="utf-8")
    (source / "queries.jsonl").write_text('{"_id": 1, "text": "which?"}\n', encoding="utf-8")
    (source / "qrels" / "test.tsv").write_text("1\t2\t1\n1\t007\t1\n", encoding="utf-8")
    counts = import_collection(source, target)
    collection = Collection.open(target)
    assert collection.ids == ["2", "007"]  # leading zeros stay
    assert collection.qrels("test") == {"1": {"2": 1, "007": 1}}
    assert counts["warnings"] == 0
