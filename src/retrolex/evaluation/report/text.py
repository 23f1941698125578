"""Text on the page: escaping, shortening, and matched terms marked."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from retrolex.words import UNSPACED, border, is_unspaced, marks

WHOLE = 3  # letters from which a term is marked at the beginning of longer words too: "vitamin" in "vitamins", but not "d" in "diet"
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # no part of an HTML document


def escape(text: object) -> str:
    """Text made safe for element content and quoted attributes."""
    return html.escape(FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text)), quote=True)


def shorten(text: str, length: int) -> str:
    """At most `length` characters, cut at a space, with an ellipsis where something was cut; white space collapsed."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: border(text, length)].rstrip() + " …"


def surface(term: str) -> str:
    """A vocabulary entry as people write it: without the marks of word starts and word parts."""
    return term.removeprefix("##").replace("Ġ", "").replace("▁", "")


def highlight(text: str, terms: Iterable[str]) -> str:
    """Escaped text with the beginnings of words that are in `terms` marked, of one or two letters only whole words; in scripts without
    spaces between words a term is marked wherever it stands. Word parts (##ing) are not looked for."""
    small = text.lower()
    wanted = {surface(term) for term in terms if not term.startswith("##")}
    # A model may weigh thousands of terms; a pattern of those that are here is soon compiled.
    wanted = sorted((term for term in wanted if term and term[0].isalnum() and term.lower() in small), key=lambda term: (-len(term), term))
    if not wanted:
        return escape(text)
    pieces = re.split(f"({pattern_of(wanted)})", text, flags=re.IGNORECASE)
    return "".join(f"<mark>{escape(piece)}</mark>" if i % 2 else escape(piece) for i, piece in enumerate(pieces))


def pattern_of(terms: list[str]) -> str:
    """What finds a term where a word begins, a short one only where the word ends with it, and one of an unspaced script anywhere.

    Args:
        terms: the longest first.
    """
    unspaced = [term for term in terms if is_unspaced(term[0])]
    short = [term for term in terms if not is_unspaced(term[0]) and len(term) < WHOLE and not is_unspaced(term[-1])]
    other = [term for term in terms if not is_unspaced(term[0]) and (len(term) >= WHOLE or is_unspaced(term[-1]))]
    letter = f"(?![{UNSPACED}])[\\w{marks()}]"  # of a script with spaces between words
    found = [f"(?<!{letter})(?:{any_of(other)})"] if other else []
    found += [f"(?<!{letter})(?:{any_of(short)})(?!{letter})"] if short else []
    return "|".join(found + ([any_of(unspaced)] if unspaced else []))


def any_of(terms: list[str]) -> str:
    """A pattern of alternatives."""
    return "|".join(map(re.escape, terms))
