"""Titles and visible text of HTML; linear time whatever the markup."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.collection import Document
from retrolex.collection.readers.html_text import Page, read_html

PAGE = """<!DOCTYPE html><html><head><title>My &amp;
 page</title><style>p { color: red }</style><script>var a = "<p>no</p>";</script></head>
<body onload="a > b"><h1>Head</h1><!-- <p>hidden</p> --><p>One <b>bo</b>ld &eacute; 3 < 4
 line<br/>two<pre>a  b
   c</pre><SCRIPT>x</SCRIPT ><noscript>nope</noscript><svg><title>icon</title></svg><ul><li>x<li>y</ul><img alt="a > b">end</body></html>"""


def test_a_page():
    assert read_html(PAGE) == Page("My & page", "Head\n\nOne bold é 3 < 4 line\ntwo\na  b\n   c\n\nx\ny\nend")


@pytest.mark.parametrize(
    ("source", "page"),
    [
        ("", Page("", "")),
        ("no markup at all", Page("", "no markup at all")),
        ("<p>a<p>b", Page("", "a\nb")),
        ("a < b and c > d", Page("", "a < b and c > d")),
        ("<!-- never closed <p>kept", Page("", "<!-- never closed\nkept")),
        ("<title>first</title><title>second</title>x", Page("first", "x")),
        ("<title>never closed", Page("never closed", "")),
        ("a<script>never closed", Page("", "a")),
        ("a<template>never closed", Page("", "a\nnever closed")),
        ('<a href="x>y">link</a>', Page("", "link")),
        ('<a href="x>link</a>', Page("", "link")),
        ("&#" + "9" * 5000 + ";", Page("", "&#" + "9" * 5000 + ";")),
        ("这是<b>中文</b>。", Page("", "这是中文。")),
    ],
)
def test_damaged_and_foreign(source, page):
    assert read_html(source) == page


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<p>", "</p>", "<b>", "</b>", "<!--c-->", "<br/>", "<script>s</script>", "w", " ", "\n"])))
def test_no_word_is_lost_in_sound_markup(parts):
    assert read_html("".join(parts)).text.count("w") == parts.count("w")


@pytest.mark.parametrize(
    "piece", ["<a ", "<!--", "</", "<a b='", "<svg>", "<title>", "<template></template>", "<a b='<b>' ", "<a b=\"'", "&#", "<pre>"]
)
def test_time_grows_with_the_length_only(piece):
    """The standard library's parser needs 80 seconds for 20,000 times `<a ` in Python 3.11.7."""
    start = time.process_time()
    read_html(piece * 20_000)
    assert time.process_time() - start < 5


def test_html_files_in_a_folder(write, importing):
    write("texts/a.html", PAGE)
    write("texts/b.htm", "<meta charset='windows-1252'><title>caf\xe9</title>\x93x\x94".encode("latin-1"))
    write("texts/c.xhtml", b'<meta http-equiv="Content-Type" content="text/html; charset=utf-8"><p>caf\xe9')
    write("texts/d.html", b'<meta charset="zip"><p>\xe9')
    folder = write("texts/e.md", "# T\nbody <b>kept as it is</b>").parent
    imported = importing(folder)
    assert imported.collection.ids == ["a.html", "b.htm", "e.md"] and imported.collection[0].title == "My & page"
    assert imported.collection[1] == Document("b.htm", "café", "“x”") and imported.collection[2].text == "body <b>kept as it is</b>"
    assert [reject["file"] for reject in imported.rejects] == ["c.xhtml", "d.html"]
