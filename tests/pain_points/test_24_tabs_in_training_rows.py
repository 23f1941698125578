"""A tab or a line break in a text, and a text that is empty, cost no row and shift no column."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrolex.finetuning.formats import FORMATS, Passage, Row, read_rows, write_rows


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.texts])
def test_24_tabs_and_empty_texts(tmp_path: Path, name: str) -> None:
    row = Row("7", "a\tb", (Passage("1", "one\r\ntwo\tthree"),), (Passage("2", ""),))
    path = tmp_path / f"rows{FORMATS[name].suffixes[0]}"
    counts = write_rows(path, name, [row, row])
    one, other = read_rows(path, name)
    if name == "msmarco-texts":
        assert (one.query, one.positives[0].text, one.negatives[0].text) == ("a b", "one  two three", "") and one == other
        assert counts == {"rows": 2, "texts with tabs or line breaks made spaces": 4}
    else:
        assert (one.query, one.positives[0].text, one.negatives[0].text) == ("a\tb", "one\r\ntwo\tthree", "") and one == other
        assert counts == {"rows": 2}
