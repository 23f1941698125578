"""Text on the page: escaping, shortening, and matched terms marked."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # no part of an HTML document


def escape(text: object) -> str:
    """Text made safe for element content and quoted attributes."""
    return html.escape(FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text)), quote=True)


def shorten(text: str, length: int) -> str:
    """At most `length` characters, cut at a space, with an ellipsis where something was cut; white space collapsed."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    cut = text[:length].rsplit(" ", 1)[0]
    return (cut if len(cut) > length // 2 else text[:length]) + " …"


def surface(term: str) -> str:
    """A vocabulary entry as people write it: without the marks of word starts and word parts."""
    return term.removeprefix("##").replace("Ġ", "").replace("▁", "")


def highlight(text: str, terms: Iterable[str]) -> str:
    """Escaped text with the beginnings of words that are in `terms` marked. Word parts (##ing) are not looked for."""
    wanted = {surface(term) for term in terms if not term.startswith("##")}
    wanted = sorted((re.escape(term) for term in wanted if term and term[0].isalnum()), key=len, reverse=True)
    if not wanted:
        return escape(text)
    pieces = re.split(rf"(?<!\w)({'|'.join(wanted)})", text, flags=re.IGNORECASE)
    return "".join(f"<mark>{escape(piece)}</mark>" if i % 2 else escape(piece) for i, piece in enumerate(pieces))
