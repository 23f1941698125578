"""Encodings: text that was read with the wrong one, or written in a form that other text does not have."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from retrolex.collection.doctor.findings import Finding, Tally
from retrolex.collection.doctor.ledger import Ledger
from retrolex.collection.documents import Document, Judgment, Query
from retrolex.collection.readers.lines import open_bytes
from retrolex.collection.readers.records import Place, shortened
from retrolex.errors import UserError

AROUND = 20  # characters shown on both sides

C1 = "control characters (Windows-1252 in UTF-8)"
LOST = "replacement characters (U+FFFD)"
SIGNS = {
    C1: (re.compile("[\x80-\x9f]"), 'decode the source as what it is, mostly Windows-1252: bytes.decode("cp1252")'),
    "byte order marks inside texts": (re.compile("\ufeff"), "delete U+FEFF, an invisible sign that stays where files are joined or pages copied"),
    LOST: (re.compile("\ufffd"), "decode the source again with its true encoding, unless the text is about U+FFFD, which stands for lost letters"),
    "half surrogate pairs": (re.compile("[\ud800-\udfff]"), "write the whole character, for a run skips such rows"),
}
DOUBLE = "text encoded twice"
DECOMPOSED = "decomposed letters (NFD)"
NUL = "NUL characters"
MENDS = {
    NUL: "delete the NUL characters, or convert the source from UTF-16",
    DOUBLE: 'undo one encoding: text.encode("cp1252").decode("utf-8"), or ftfy.fix_text(text)',
    **{name: mend for name, (_, mend) in SIGNS.items()},
    DECOMPOSED: 'compose them: unicodedata.normalize("NFC", text)',
}


class Encodings:
    """Looks at every character of ids, titles and texts; each row counts once a finding."""

    def __init__(self) -> None:
        self.tallies = {name: Tally() for name in MENDS}

    def see(self, item: Document | Query | Judgment, place: Place) -> None:
        """One more row."""
        if isinstance(item, Judgment):
            return
        signs = {name: sign for part in reversed(item) for name, sign in self._faults(part)}
        for name, sign in signs.items():
            self.tallies[name].add(place, sign)

    def _faults(self, text: str) -> list[tuple[str, str]]:
        faults = [(NUL, around(text, text.index("\0")))] if "\0" in text else []
        if text.isascii():
            return faults
        fixed = undo_double(text)
        if fixed != text:
            at = first_difference(text, fixed)
            faults.append((DOUBLE, f"{around(text, at)}, undone: {around(fixed, at)}"))
        for name, (pattern, _) in SIGNS.items():
            if match := pattern.search(fixed):
                faults.append((name, around(fixed, match.start())))
        if not unicodedata.is_normalized("NFC", text):
            # Shorter once composed: letters and their accents stood apart. Other texts that are not NFC keep their length or grow.
            composed = unicodedata.normalize("NFC", text)
            if len(composed) < len(text):
                faults.append((DECOMPOSED, around(text, first_difference(text, composed))))
        return faults

    def findings(self, ledger: Ledger) -> list[Finding]:
        """What is wrong with the characters."""
        return [finding for name, mend in MENDS.items() for finding in self.tallies[name].finding(name, "note" if name == LOST else "warning", mend)]


def undo_double(text: str) -> str:
    """The text as it was before UTF-8 was taken for Latin-1 or Windows-1252 and encoded once more; others come back unchanged."""
    import ftfy

    fixed, steps = ftfy.fix_encoding_and_explain(text)
    decoded = any(step.parameter == "decode_inconsistent_utf8" or (step.action == "decode" and step.parameter.startswith("utf-8")) for step in steps)
    return fixed if decoded else text


def first_difference(one: str, other: str) -> int:
    """The first place at which two texts differ."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def around(text: str, at: int) -> str:
    """A few characters on both sides of a place in a text."""
    return shortened(text[max(0, at - AROUND) : at + AROUND])


def marked_files(paths: list[Path], shown: Callable[[Place], Place]) -> list[Finding]:
    """Files that start with a byte order mark."""
    tally = Tally()
    for path in paths:
        with suppress(UserError), open_bytes(path) as file:  # where reading stopped is told elsewhere
            if file.read(3) == codecs.BOM_UTF8:
                tally.add(shown(Place(str(path), 1)), "the file starts with EF BB BF")
    mend = "save as UTF-8 without a byte order mark, for other programs take it for part of the first line"
    return tally.finding("files with a byte order mark", "note", mend)
