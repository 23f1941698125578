"""Pain 27: asking for more hits than there are raises, or returns junk. Here fewer come back."""

from __future__ import annotations

from pathlib import Path

from retrolex.index.bm25 import BM25Index


def test_27_more_hits_asked_than_documents(tmp_path: Path) -> None:
    index = BM25Index.build(tmp_path, ["a", "b"], ["one fish", "two fish"])
    assert [len(positions) for positions, _ in index.search(["fish", "unicorn"], 10)] == [2, 0]
