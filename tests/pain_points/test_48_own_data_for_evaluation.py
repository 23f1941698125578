"""Pain 48: it is unclear what own data for evaluation must look like. Here three files of a few lines are enough, header or not."""

from __future__ import annotations

import pytest

from retrolex.collection import Collection, import_collection


@pytest.mark.parametrize("header", ["", "query-id\tcorpus-id\tscore\n"])
def test_three_small_files(tmp_path, header):
    source, target = tmp_path / "mine", tmp_path / "out"
    (source / "qrels").mkdir(parents=True)
    target.mkdir()
    (source / "corpus.jsonl").write_text("".join(f'{{"_id": "d{i}", "text": "text {i}"}}\n' for i in range(3)), encoding="utf-8")
    (source / "queries.jsonl").write_text("".join(f'{{"_id": "q{i}", "text": "query {i}"}}\n' for i in range(3)), encoding="utf-8")
    (source / "qrels" / "test.tsv").write_text(header + "".join(f"q{i}\td{i}\t1\n" for i in range(3)), encoding="utf-8")
    counts = import_collection(source, target)
    collection = Collection.open(target)
    assert (len(collection), len(collection.queries), counts["judgments"]) == (3, 3, {"test": 3})
    assert collection.qrels("test") == {f"q{i}": {f"d{i}": 1} for i in range(3)}  # the first judgment is not lost
