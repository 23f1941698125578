"""A few lines of a document that show why it was found."""

from __future__ import annotations

import re

LENGTH = 200  # characters


def snippet(text: str, query: str, length: int = LENGTH) -> str:
    """The stretch of `text` with the most different words of `query`, on one line; its beginning when it has none of them."""
    flat = " ".join(text.split())
    if len(flat) <= length:
        return flat
    words = {word.lower() for word in re.findall(r"\w+", query) if len(word) > 2}
    places = [(match.start(), match.group().lower()) for match in re.finditer(r"\w+", flat) if match.group().lower() in words]
    best = max((place for place, _ in places), key=lambda start: len({word for place, word in places if start <= place < start + length}), default=0)
    start = 0 if best < length // 2 else flat.rfind(" ", 0, best - length // 5) + 1
    end = flat.rfind(" ", start, start + length)
    end = end if end > start else start + length
    return ("… " if start else "") + flat[start:end] + (" …" if end < len(flat) else "")
