"""The common index file format, read back by a decoder that knows only the format."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrolex.export.ciff import export_ciff, export_pisa
from retrolex.export.protobuf import field, varint
from retrolex.export.source import Source
from retrolex.export.vectors import open_vectors


def take_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def fields(message: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Number and value of every field of a message."""
    at = 0
    while at < len(message):
        tag, at = take_varint(message, at)
        if tag & 7 == 0:
            value, at = take_varint(message, at)
        elif tag & 7 == 1:
            [value], at = struct.unpack_from("<d", message, at), at + 8
        else:
            size, at = take_varint(message, at)
            value, at = message[at : at + size], at + size
        yield tag >> 3, value


def messages(data: bytes) -> Iterator[bytes]:
    """The messages of a delimited stream."""
    at = 0
    while at < len(data):
        size, at = take_varint(data, at)
        yield data[at : at + size]
        at += size


def read_ciff(path: Path) -> tuple[dict, dict[str, dict[int, int]], list[tuple[str, int]]]:
    """Header, term -> document -> weight, and id and length of each document."""
    stream = messages(path.read_bytes())
    header = dict(fields(next(stream)))
    lists = {}
    for _ in range(header[2]):
        found, postings, document = {}, {}, 0
        for number, value in fields(next(stream)):
            if number == 4:
                gap, weight = dict(fields(value)).values()
                document += gap
                postings[document] = weight
            else:
                found[number] = value
        assert found[2] == len(postings)
        assert found[3] == sum(postings.values())
        lists[found[1].decode()] = postings
    records = []
    for position, message in enumerate(stream):
        record = dict(fields(message))
        assert record[1] == position
        records.append((record[2].decode(), record[3]))
    return header, lists, records


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
