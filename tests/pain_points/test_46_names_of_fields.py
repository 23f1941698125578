"""Pain 46: every tool wants another name for the id and the text. Here the usual ones are known, and others can be said."""

from __future__ import annotations

import json

import pytest

from retrolex.collection import Collection, Document, import_collection
from retrolex.errors import UserError


@pytest.mark.parametrize("text", ["text", "contents", "content", "body", "passage", "abstract"])
@pytest.mark.parametrize("id", ["_id", "id", "docid", "doc_id", "docno", "pid"])
def test_usual_names(tmp_path, id, text):
    (tmp_path / "a.jsonl").write_text(json.dumps({id: "1", text: "x"}), encoding="utf-8")
    import_collection(tmp_path / "a.jsonl", tmp_path)
    assert list(Collection.open(tmp_path)) == [Document("1", "", "x")]


def test_an_unknown_name_is_not_guessed(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"key": "1", "says": "x"}', encoding="utf-8")
    with pytest.raises(UserError, match="there are: key, says"):
        import_collection(tmp_path / "a.jsonl", tmp_path)
    import_collection(tmp_path / "a.jsonl", tmp_path, columns={"id": "key", "text": "says"})
    assert list(Collection.open(tmp_path)) == [Document("1", "", "x")]
