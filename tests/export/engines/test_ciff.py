"""The common index file format, read back by a decoder that knows only the format."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.export.engines.ciff_twin import fields, read_ciff, take_varint

from retrolex.export.ciff import export_ciff, export_pisa
from retrolex.export.protobuf import field, varint
from retrolex.export.source import Source
from retrolex.export.vectors import open_vectors


def test_every_posting_is_there(lexicon: Source, tmp_path: Path) -> None:
    counts = export_ciff(lexicon, tmp_path)
    header, lists, records = read_ciff(tmp_path / "index.ciff")
    vectors = open_vectors(lexicon)
    for row in vectors.rows():
        terms = {vectors.form.terms[column]: weight for column, weight in row.vector.items()}
        assert terms == {term: postings[row.position] for term, postings in lists.items() if row.position in postings}
        assert records[row.position] == (row.id, sum(terms.values()))
    total = sum(length for _, length in records)
    assert (header[1], header[2], header[3], header[4], header[5]) == (1, len(lists), 300, len(lists), 300)
    assert (header[6], header[7]) == (total, total / 300)
    assert counts["postings"] == sum(map(len, lists.values()))
    assert list(lists) == sorted(lists)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "index.ciff"]


def test_eight_bits(lexicon: Source, tmp_path: Path) -> None:
    largest = open_vectors(lexicon).largest()
    counts = export_ciff(lexicon, tmp_path, bits=8)
    _, lists, _ = read_ciff(tmp_path / "index.ciff")
    assert max(weight for postings in lists.values() for weight in postings.values()) == 255
    assert counts["scale"] == pytest.approx(100 * 255 / largest)


def test_pisa_gets_queries(lexicon: Source, tmp_path: Path) -> None:
    counts = export_pisa(lexicon, tmp_path)
    assert counts["queries"] + counts["queries without terms"] == 100
    first = (tmp_path / "queries.txt").read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("q0:")
    assert "{" not in (tmp_path / "README.md").read_text(encoding="utf-8")


@given(st.integers(0, 2**63 - 1))
def test_varints_round_trip(number: int) -> None:
    assert take_varint(varint(number) + b"\xff", 0) == (number, len(varint(number)))
    assert list(fields(field(5, number))) == [(5, number)]


def test_protobuf_agrees() -> None:
    wrappers = pytest.importorskip("google.protobuf.wrappers_pb2", reason="needs protobuf to compare with")
    assert field(1, 300) == wrappers.Int64Value(value=300).SerializeToString()
    assert field(1, "naïve") == wrappers.StringValue(value="naïve").SerializeToString()
    assert field(1, 1.5) == wrappers.DoubleValue(value=1.5).SerializeToString()
