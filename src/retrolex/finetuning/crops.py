"""Cutting one document into a query and the rest: what stands in for labels when nobody has any.

Lengths are counted in units: words, or in scripts that are written without spaces single characters or a few letters.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from retrolex.collection.documents import Document
from retrolex.words import CLOSING, FULL_STOPS, STOPS, UNSPACED, spans, stretch

SENTENCE_END = re.compile(f"[.…{STOPS}][{re.escape(CLOSING)}]*$")
DOCSTRING = re.compile(r'"""(.+?)"""|\'\'\'(.+?)\'\'\'|/\*\*(.+?)\*/', re.DOTALL)

VISIBLE = 300  # units of a document that are used: an encoder sees little more of it
SHORTEST, LONGEST = 4, 32  # units of a piece
SHORTEST_REST = 5  # units that must be left for the document's side
SHORTEST_TITLE = 2
SHORTEST_NAME = 3  # words of a title that can stand for its document, and of the sentence that asks for it
KEPT_SPANS = 0.1  # share of inverse clozes that leave the span in, so that shared words go on counting (Lee et al. 2019)


class Crop(NamedTuple):
    """A query, and the text that answers it."""

    query: str
    text: str


def from_title(document: Document, rng: random.Random) -> Crop | None:
    """The title, and the body without it; of a body of one sentence half the time the other way round, since people ask for
    what a thing does ("Return a relative version of a path") more often than for its name."""
    title, body = tidy(document.title), visible(document.text)
    if body.lower().startswith(title.lower()):
        body = body[len(title) :]
    body, size = tidy(body), len(units(body))
    named = len(units(title)) >= SHORTEST_TITLE and size >= SHORTEST_REST
    described = len(spans(title)) >= SHORTEST_NAME and SHORTEST_NAME <= size <= LONGEST
    if described and (not named or rng.random() < 0.5):
        return Crop(body, title)
    return Crop(title, body) if named else None


def from_lead(document: Document, rng: random.Random) -> Crop | None:
    """The first sentence (in source code: of the first docstring), and everything else."""
    text = visible(document.text)
    found = DOCSTRING.search(text)
    inside = next((number for number in (1, 2, 3) if found and found[number]), 0)
    start, stop = found.span(inside) if found else (0, len(text))
    spans = pieces(text[start:stop])
    return _without(document, text, start + spans[0][0], start + spans[0][1]) if spans else None


def from_cloze(document: Document, rng: random.Random) -> Crop | None:
    """A random sentence, and the document without it; of a single sentence, half of its words in a row (inverse cloze)."""
    text = visible(document.text)
    spans = pieces(text)
    if len(spans) > 1:
        return _without(document, text, *rng.choice(spans), keep=rng.random() < KEPT_SPANS)
    words = units(text)
    if len(words) < SHORTEST + SHORTEST_REST:
        return None
    half = len(words) // 2
    first = rng.randrange(len(words) - half + 1)
    return _without(document, text, words[first][0], words[first + half - 1][1], keep=rng.random() < KEPT_SPANS)


KINDS: dict[str, Callable[[Document, random.Random], Crop | None]] = {"title": from_title, "lead": from_lead, "cloze": from_cloze}


@lru_cache
def unit() -> re.Pattern[str]:
    """What finds a unit; a full stop that stands apart goes with its word."""
    return re.compile(f"{stretch()}|[{FULL_STOPS}]|[^\\s{UNSPACED}{FULL_STOPS}]+(?:\\s[.!?](?!\\S))?")


def units(text: str) -> list[tuple[int, int]]:
    """Start and stop of every unit."""
    return [match.span() for match in unit().finditer(text)]


def visible(text: str) -> str:
    """The first `VISIBLE` units of a text."""
    spans = units(text)
    return text if len(spans) <= VISIBLE else text[: spans[VISIBLE - 1][1]]


def pieces(text: str) -> list[tuple[int, int]]:
    """Start and stop of consecutive sentences; one without an end in sight is cut after `LONGEST` units, and one of fewer
    than `SHORTEST` units goes with the next."""
    spans, found, first = units(text), [], 0
    for number, (start, stop) in enumerate(spans):
        size, last = number - first + 1, number + 1 == len(spans)
        ends = SENTENCE_END.search(text[start:stop]) or (not last and "\n\n" in text[stop : spans[number + 1][0]])
        if size >= LONGEST or last or (ends and size >= SHORTEST):
            found.append((spans[first][0], stop))
            first = number + 1
    if len(found) > 1 and len(units(text[slice(*found[-1])])) < SHORTEST:  # a last scrap goes with the sentence before
        (start, _), (_, stop) = found[-2:]
        found[-2:] = [(start, stop)]
    return found


def tidy(text: str) -> str:
    """One space between words, none at the ends."""
    return " ".join(text.split())


def _without(document: Document, text: str, start: int, stop: int, keep: bool = False) -> Crop | None:
    rest = text[:start] + " " + text[stop:]
    if len(units(text[start:stop])) < SHORTEST or len(units(rest)) < SHORTEST_REST:
        return None
    return Crop(tidy(text[start:stop]), tidy(f"{document.title} {text if keep else rest}"))
