"""Pain 23: empty documents shift or break what comes after them. Here they are documents like all others, and counted."""

from __future__ import annotations

from retrolex.collection import Collection, import_collection


def test_empty_documents_keep_their_places(tmp_path):
    source = tmp_path / "corpus.jsonl"
    source.write_text(
        '{"_id": "a", "text": "some"}\n{"_id": "b", "text": ""}\n{"_id": "c", "text": " "}\n{"_id": "d", "text": "\\n"}\n', encoding="utf-8"
    )
    counts = import_collection(source, tmp_path)
    collection = Collection.open(tmp_path)
    assert collection.ids == ["a", "b", "c", "d"]
    assert [document.full for document in collection] == ["some", "", "", ""]
    assert counts["documents"] == 4 and counts["empty documents"] == 3 and counts["rejects"] == 0


def test_a_collection_of_empty_documents_only(tmp_path):
    (tmp_path / "a.tsv").write_text("1\t\n2\t\n", encoding="utf-8")
    assert import_collection(tmp_path / "a.tsv", tmp_path)["empty documents"] == 2
