"""Pain 25: ids with spaces or line breaks break lists of ids. Here ids are stored as values, not as lines."""

from __future__ import annotations

import json

from retrolex.collection import Collection, import_collection

IDS = ["doc 1", " doc 1", "doc\n1", "doc\t1", "doc\u20281", "d\u00f3c"]


def test_ids_come_back_as_they_are(tmp_path):
    rows = "".join(json.dumps({"_id": id, "text": "x"}) + "\n" for id in IDS)
    (tmp_path / "corpus.jsonl").write_text(rows, encoding="utf-8")
    import_collection(tmp_path / "corpus.jsonl", tmp_path)
    collection = Collection.open(tmp_path)
    assert collection.ids == IDS
    assert [collection.position(id) for id in IDS] == list(range(len(IDS)))
