"""Pain 24: lines with a tab in the text, or without text, vanish. Here the tab is text, and an empty text is an empty document."""

from __future__ import annotations

from retrolex.collection import Collection, Document, import_collection


def test_tabs_and_empty_texts_stay(tmp_path):
    (tmp_path / "collection.tsv").write_text("6\tplain\n7\ta\tb\n8\t\n9\tplain\n", encoding="utf-8")
    counts = import_collection(tmp_path / "collection.tsv", tmp_path)
    assert list(Collection.open(tmp_path)) == [
        Document("6", "", "plain"),
        Document("7", "", "a\tb"),
        Document("8", "", ""),
        Document("9", "", "plain"),
    ]
    assert counts["rejects"] == 0
