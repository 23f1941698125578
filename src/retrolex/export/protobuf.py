"""The few kinds of protocol-buffer fields that CIFF is made of, written and nothing else (protobuf.dev, "Encoding")."""

from __future__ import annotations

import struct

VARINT, DOUBLE, BYTES = 0, 1, 2  # wire types


def varint(number: int) -> bytes:
    """A non-negative integer in groups of seven bits, the lowest first."""
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def field(number: int, value: int | float | str | bytes) -> bytes:
    """A field with its tag: an integer, a double, or a string or message with its length."""
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | DOUBLE) + struct.pack("<d", value)
    content = value.encode("utf-8") if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(content)) + content


def delimited(message: bytes) -> bytes:
    """A message with its length before it, as streams of messages hold them."""
    return varint(len(message)) + message
