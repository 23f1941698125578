"""Pain 22: a title that is null stops the reader. Here null, absent and empty titles are the same."""

from __future__ import annotations

from retrolex.collection import Collection, import_collection


def test_null_absent_and_empty_titles(tmp_path):
    source = tmp_path / "corpus.jsonl"
    source.write_text('{"_id":"1","title":null,"text":"x"}\n{"_id":"2","text":"x"}\n{"_id":"3","title":"","text":"x"}\n', encoding="utf-8")
    import_collection(source, tmp_path)
    assert [(document.title, document.full) for document in Collection.open(tmp_path)] == [("", "x")] * 3
