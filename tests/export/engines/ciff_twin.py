"""A decoder of the common index file format that knows only the format."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path


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
