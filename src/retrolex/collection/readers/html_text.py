"""The title and the visible text of HTML, in time that grows with its length only.

The standard library's parser takes quadratic time on damaged markup in many of the Python versions that retrolex supports
(a minute for 60 kB of unclosed tags); a reader of other people's files must never hang.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

HIDDEN = ("script", "style", "title", "template", "noscript", "svg", "math", "iframe", "object", "select")  # with all they hold
RAW = ("script", "style", "title")  # no markup inside: unclosed, they go on to the end
INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "f", "font", "i", "img", "ins", "kbd", "label",
    "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
))  # fmt: skip
NAME = re.compile(r"</?([a-zA-Z][^\s<>/]*)")
END_OR_QUOTE = re.compile(r"""[>"']""")
SPACES = re.compile(r"[ \t\r\n\f]+")


class Page(NamedTuple):
    """What a page says."""

    title: str
    text: str


class Piece(NamedTuple):
    """A run of text, or a tag by its name (with a slash before it where it closes)."""

    kind: str
    value: str


def read_html(source: str) -> Page:
    """The first <title>, and the text a reader would see: no markup, scripts, styles or comments; blocks on lines of their own.

    White space is joined, except inside <pre>. What a style sheet or a script would hide is not known here.
    """
    title, preformatted = None, 0
    parts: list[str] = []
    for kind, value in pieces(source):
        if kind == "title":
            title = title if title is not None else value
        elif kind == "text":
            parts.append(value if preformatted else SPACES.sub(" ", value))
        elif kind == "tag" and value.removeprefix("/") not in INLINE:
            preformatted = max(0, preformatted + (1 if value == "pre" else -1)) if value in ("pre", "/pre") else preformatted
            parts.append("\n")
    lines = "".join(unescape(part) for part in parts).split("\n")
    text = "\n".join(line.rstrip() for line in lines)
    return Page(" ".join(unescape(title or "").split()), re.sub(r"\n{3,}", "\n\n", re.sub(r"\n (?=\S)", "\n", text)).strip())


def unescape(text: str) -> str:
    """Character references resolved; text with a number too long to be one is left as it is."""
    try:
        return html.unescape(text)
    except ValueError:
        return text


def pieces(source: str) -> Iterator[Piece]:
    """Texts and tags in order; hidden elements are left out, but for a title's text, a piece of kind `title`.

    Whatever is looked for and not found is looked for once only, which keeps the time linear.
    """
    find = _Finder(source)
    start = place = 0
    while (place := source.find("<", place)) >= 0:
        if source.startswith("<!--", place):
            end = find("-->", place + 4, 3)
            name = None
        elif source.startswith(("<!", "<?"), place):
            end = find(">", place, 1)
            name = None
        elif match := NAME.match(source, place):
            end = find.tag_end(match.end())
            name = match[1].lower()
        else:
            end = None
        if end is None:  # a stray "<" is text
            place += 1
            continue
        yield Piece("text", source[start:place])
        start = end
        if name is not None:
            opens = source[place + 1] != "/"
            closed = find.closing(name, end) if opens and name in HIDDEN and source[end - 2] != "/" else None
            if opens and name in RAW and closed is None:
                closed = len(source)
            if closed is not None:
                if name == "title":
                    yield Piece("title", source[end:closed])
                start = closed
            else:
                yield Piece("tag", name if opens else f"/{name}")
        place = start
    yield Piece("text", source[start:])


class _Finder:
    """Finds ends, and remembers what there is no more of."""

    def __init__(self, source: str):
        self._source, self._absent = source, set()

    def __call__(self, what: str, start: int, length: int) -> int | None:
        """The place after the next `what`."""
        if what in self._absent:
            return None
        place = self._source.find(what, start)
        if place < 0:
            self._absent.add(what)
            return None
        return place + length

    def closing(self, name: str, start: int) -> int | None:
        """The place of the next `</name`, in any case."""
        if name in self._absent:
            return None
        match = re.compile(f"</{name}\\b", re.IGNORECASE | re.ASCII).search(self._source, start)
        if match is None:
            self._absent.add(name)
        return match.start() if match else None

    def tag_end(self, start: int) -> int | None:
        """The place after the tag's `>`, which does not count inside the quotes of an attribute's value."""
        place = start
        while "quotes" not in self._absent and (match := END_OR_QUOTE.search(self._source, place)):
            if match[0] == ">":
                return match.end()
            value = self._source[max(start, match.start() - 8) : match.start()].rstrip().endswith("=")
            after = self(match[0], match.end(), 1) if value else match.end()
            if after is None:
                break
            place = after
        self._absent.add("quotes")  # damaged from here on: the next ">" ends a tag
        return self(">", start, 1)
