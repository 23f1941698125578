"""Pain 30: MS MARCO holds text that was encoded twice, and repairing it while reading takes minutes and alters what others measure on.

Here reading leaves it as it is, character by character; finding it is the doctor's part.
"""

from __future__ import annotations

from retrolex.collection import Collection, import_collection

TWICE = "ˈkeɪnz".encode().decode("cp1252", errors="replace")


def test_reading_rewrites_nothing(tmp_path):
    source, target = tmp_path / "m", tmp_path / "out"
    source.mkdir()
    target.mkdir()
    rows = ["Ë\x88keÉªnz", "â€œquotedâ€\x9d", "ï¿½", TWICE, "cafÃ©", "café"]
    (source / "collection.tsv").write_text("".join(f"{id}\t{text}\n" for id, text in enumerate(rows)), encoding="utf-8", newline="\n")
    counts = import_collection(source, target)
    assert [document.text for document in Collection.open(target)] == rows and counts["rejects"] == 0
