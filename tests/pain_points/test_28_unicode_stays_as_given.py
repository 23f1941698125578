"""Pain 28, the part of reading: composed and decomposed letters, and scripts with combining signs, are not rewritten."""

from __future__ import annotations

import pytest

from retrolex.collection import Collection, import_collection

TEXTS = ["caf\u00e9", "cafe\u0301", "हिन्दी", "C R 5G", "Queen 's", "İstanbul ﬁ ½", "中文，标点。", "a\u00a0b\u200bc", "👩‍👩‍👧"]


@pytest.mark.parametrize(("name", "row"), [("a.jsonl", '{{"text": "{}"}}'), ("a.csv", '"{}"'), ("a.txt", "{}")])
def test_no_text_is_normalised(tmp_path, name, row):
    lines = [row.format(text) for text in TEXTS]
    (tmp_path / name).write_text("\n".join((["text"] if name == "a.csv" else []) + lines), encoding="utf-8")
    import_collection(tmp_path / name, tmp_path)
    assert [document.text for document in Collection.open(tmp_path)] == TEXTS
