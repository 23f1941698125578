"""What a word is, and where a sentence ends, in any script.

A word is a maximal run of letters, digits, underscores and the combining marks between them. Some scripts (Chinese, Japanese, Thai, ...)
are written without spaces between words: a run of those says nothing about words, so it is taken character by character, or stretch by
stretch where a character is a fraction of a syllable.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

# Letters, several to a word: Thai, Lao, Tibetan, Myanmar, Khmer.
LETTERS = "\u0e01-\u0e4e\u0e81-\u0edf\u0f40-\u0fbc\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
# Characters of a syllable or a word each: Hiragana and Katakana (of half width too), Han and its extensions with the signs used as such.
SYLLABLES = "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
UNSPACED = LETTERS + SYLLABLES
ATTACHED = "\u30fc\u0e33\u0eb3\uff70\uff9e\uff9f"  # no combining marks, but never the beginning of anything: the long vowel, sara am, ...

FULL_STOPS = "。！？｡．"  # of scripts that put no space after them
DANDAS = "।॥།။።។"  # as certain, mostly with a space
STOPS = FULL_STOPS + DANDAS + "!?؟۔։"  # whatever ends a sentence for certain; a dot may also end "etc."
CLOSING = "\"')]}»”’」』）】"  # may follow within the sentence

CLUSTERS = 3  # letters with their marks that make a stretch: about a Thai word
LONGEST_WORD = 40  # characters looked back over for the beginning of a word
ASCII_WORD = re.compile(r"\w+", re.ASCII)


class Patterns(NamedTuple):
    """Compiled once.

    Attributes:
        word: a run of letters, digits, underscores and marks.
        run: the part of a word that is written in unspaced scripts, or the part that is not.
        character: a character of an unspaced script with the marks that sit on it.
        piece: a word of a spaced script; of the others a character, or a stretch of letters.
        start: a character of an unspaced script that is no mark: a word may begin before it.
    """

    word: re.Pattern[str]
    run: re.Pattern[str]
    character: re.Pattern[str]
    piece: re.Pattern[str]
    start: re.Pattern[str]


@lru_cache
def marks() -> str:
    """All combining marks, as ranges for a class of characters."""
    points = [point for point in range(0x20000) if unicodedata.category(chr(point)).startswith("M")]
    runs = [[point for _, point in run] for _, run in groupby(enumerate(points), key=lambda pair: pair[1] - pair[0])]
    return "".join(f"\\U{run[0]:08x}-\\U{run[-1]:08x}" for run in runs)


@lru_cache
def patterns() -> Patterns:
    """See `Patterns`."""
    sitting = marks() + ATTACHED
    character = f"[{UNSPACED}][{sitting}]*"
    return Patterns(
        word=re.compile(f"[\\w{marks()}]+"),
        run=re.compile(f"(?:{character})+|[^{UNSPACED}]+"),
        character=re.compile(character),
        piece=re.compile(f"{stretch()}|(?:(?![{UNSPACED}])[\\w{marks()}])+"),
        start=re.compile(f"(?![{sitting}])[{UNSPACED}]"),
    )


@lru_cache
def stretch() -> str:
    """Pattern of what stands for a word in an unspaced script: a character, or a few letters, with their marks."""
    sitting = f"[{marks()}{ATTACHED}]*"
    return f"(?:[{SYLLABLES}]{sitting}|(?:[{LETTERS}]{sitting}){{1,{CLUSTERS}}})"


def spans(text: str) -> list[tuple[int, int]]:
    """Start and stop of every word; of unspaced scripts, of every stretch."""
    return [match.span() for match in (ASCII_WORD if text.isascii() else patterns().piece).finditer(text)]


def term_spans(text: str) -> list[tuple[int, int]]:
    """Start and stop of everything that two texts can have in common: words, and in unspaced scripts pairs of neighbouring characters."""
    if text.isascii():
        return spans(text)
    found: list[tuple[int, int]] = []
    for word in patterns().word.finditer(text):
        for run in patterns().run.finditer(text, *word.span()):
            characters = [match.span() for match in patterns().character.finditer(text, *run.span())]
            found += [(left[0], right[1]) for left, right in pairwise(characters)] or [run.span()]
    return found


def is_unspaced(text: str) -> bool:
    """Whether there is anything in it of a script without spaces."""
    return not text.isascii() and patterns().start.search(text) is not None


@lru_cache(maxsize=1 << 16)
def begins_word(sign: str) -> bool:
    """Whether a word may begin before this sign wherever it stands: a character of an unspaced script that is no mark."""
    return patterns().start.match(sign) is not None


def border(text: str, place: int) -> int:
    """The last place up to `place` at which a text may be cut: after a blank, or at a character of an unspaced script; `place` where none is near."""
    if place >= len(text):
        return len(text)
    for at in range(place, max(0, place - LONGEST_WORD), -1):
        if text[at - 1].isspace() or begins_word(text[at]) or (begins_word(text[at - 1]) and not is_attached(text[at])):
            return at
    return place


@lru_cache(maxsize=1 << 16)
def is_attached(sign: str) -> bool:
    """Whether a sign belongs to the one before it."""
    return sign in ATTACHED or unicodedata.category(sign).startswith("M")


SENTENCE = re.compile(f"[{FULL_STOPS}{DANDAS}]+(?![0-9０-９])[{re.escape(CLOSING)}]*|[.…{STOPS}]+[{re.escape(CLOSING)}]*(?=\\s|$)")
"""The end of a sentence, with the quotation marks and brackets that close it."""


def first_sentence(text: str) -> int | None:
    """Where the first sentence ends; None where nothing says so."""
    found = SENTENCE.search(text)
    return found.end() if found else None
