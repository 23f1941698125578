"""The page as a document: well-formed, self-contained, safe whatever the text, and in good order for those who hear it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from retrolex.evaluation.report.data import ReportData, Score, System
from retrolex.evaluation.report.page import SECTIONS, render
from retrolex.evaluation.report.style import DARK, LIGHT, SCRIPT

NASTY = '</title><script>alert("x")</script> & <b>"quoted"</b> \x00\x1b \ud800 http://example.org/x.js'
VOID = {"meta", "br", "hr", "img", "link", "input"}


class Reader(HTMLParser):
    """Checks that tags are balanced, and keeps elements, attributes and text."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[tuple[str, str]] = []
        self.feed(page)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f"an attribute of <{tag}> is given twice"
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.stack and self.stack.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if data.strip():
            self.text.append((self.stack[-1] if self.stack else "", data))

    def named(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def page(whole):
    return render(whole())


@pytest.fixture(scope="module")
def nasty(whole):
    return render(whole(name=NASTY, text=NASTY))


def test_every_section_is_there_and_well_formed(page):
    reader = Reader(page)
    assert {attrs["id"] for attrs in reader.named("section")} == set(SECTIONS)
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for attrs in reader.named("a")} <= set(ids)


def test_the_answer_comes_first(page):
    texts = [text for tag, text in Reader(page).text if tag in ("h1", "h2")]
    assert texts[0].startswith("hybrid beats BM25 by ") and texts[0].endswith("nDCG@10")
    assert texts[1] == "Results"


def test_headings_are_in_order(page):
    levels = [int(tag[1]) for tag, _ in Reader(page).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_tables_and_drawings_can_be_heard(page):
    reader = Reader(page)
    assert len(reader.named("caption")) == len(reader.named("table")) == 2
    assert all(attrs.get("scope") in ("row", "col") for attrs in reader.named("th"))
    for attrs in reader.named("svg"):
        assert attrs.get("aria-hidden") == "true" or (attrs["role"] == "img" and attrs["aria-label"])
    drawings = sum(attrs.get("role") == "img" for attrs in reader.named("svg"))
    assert drawings == 7
    assert sum(tag == "title" for tag, _ in reader.tags) == drawings + 1
    assert reader.named("html")[0]["lang"] == "en"


@pytest.mark.parametrize("which", ["page", "nasty"])
def test_nothing_is_fetched(which, request):
    reader = Reader(request.getfixturevalue(which))
    for tag, attrs in reader.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not set(attrs) & {"src", "srcset", "action", "data", "poster", "xlink:href", "style"}
        assert attrs.get("href", "#").startswith("#")
        assert not any(name.startswith("on") for name in attrs)
    style = " ".join(text for tag, text in reader.text if tag == "style")
    assert "url(" not in style and "@import" not in style and "http" not in style


def test_text_stays_text(nasty):
    reader = Reader(nasty)
    assert [text for tag, text in reader.text if tag == "script"] == [SCRIPT]
    assert "alert(" not in SCRIPT and nasty.count("<script>") == 1
    shown = "".join(text for _, text in reader.text)
    assert '<script>alert("x")</script> & <b>"quoted"</b>' in shown
    assert "\x00" not in nasty and "\x1b" not in nasty
    nasty.encode("utf-8")


def test_numbers_are_numbers(page):
    assert not re.search(r'(?:[xy][12]?|c[xy]|width|height|points)="[^"]*(?:nan|inf|e[+-]?\d)', page)
    assert "nan" not in " ".join(text for tag, text in Reader(page).text if tag not in ("style", "script")).lower().split()


def test_parts_left_empty_have_no_section():
    data = ReportData("t", "BM25 reaches 0.500 nDCG@10", "", ["nDCG@10"], [System("BM25", {"nDCG@10": Score(0.5, 0.5, 0.5)})])
    reader = Reader(render(data))
    assert [attrs["id"] for attrs in reader.named("section")] == ["results"]


def test_one_page_is_one_page(whole):
    assert render(whole()) == render(whole())


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def mixed(colour: str, share: float, ground: str) -> str:
    return "#" + "".join(f"{round(int(colour[i : i + 2], 16) * share + int(ground[i : i + 2], 16) * (1 - share)):02x}" for i in (1, 3, 5))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast(theme):
    chosen = mixed(theme["mark"], 0.45, theme["panel"])  # the highlighted row of the table
    for ground in (theme["page"], theme["panel"], chosen):
        for ink in ("text", "soft", "good", "bad"):
            assert contrast(theme[ink], ground) >= 4.5, (ink, ground)
    assert contrast(theme["text"], theme["mark"]) >= 4.5
    for line in ("plain", "c1", "c2", "c3", "c4", "c5"):
        assert contrast(theme[line], theme["page"]) >= 4.5
