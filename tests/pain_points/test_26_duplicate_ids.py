"""Pain 26: documents with the same id are found twice. Here they are refused, and both lines are named."""

from __future__ import annotations

import pytest

from retrolex.collection import import_collection
from retrolex.errors import UserError


def test_both_lines_are_named(tmp_path):
    rows = "".join(f'{{"_id": "{number % 5}", "text": "x"}}\n' for number in range(10))
    (tmp_path / "corpus.jsonl").write_text(rows, encoding="utf-8")
    with pytest.raises(UserError, match=r"corpus\.jsonl:6: the id '0' has occurred before, at .*corpus\.jsonl:1\n"):
        import_collection(tmp_path / "corpus.jsonl", tmp_path)
