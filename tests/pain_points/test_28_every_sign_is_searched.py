"""Pain 28: Hindi, one-letter words and combining marks are lost on the way into the index. Here all of them are found."""

from __future__ import annotations

from pathlib import Path

from retrolex.index.bm25 import BM25Index


def test_28_one_letter_words_digits_and_marks_are_kept(tmp_path: Path) -> None:
    index = BM25Index.build(tmp_path, ["a", "b", "c"], ["cafe\u0301 C R 5G", "Queen 's", "हिन्दी"], language="other")
    for query, position in (("café", 0), ("R", 0), ("5g", 0), ("s", 1), ("हिन्दी", 2)):
        assert index.search([query], 1)[0][0].tolist() == [position], query
