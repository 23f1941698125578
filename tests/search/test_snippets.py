"""Snippets show the words of the query, in one line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrolex.search.snippets import LENGTH, snippet


def test_a_short_text_is_shown_whole_on_one_line():
    assert snippet("two\nlines  here", "lines") == "two lines here"


def test_the_words_of_the_query_are_in_it():
    text = "padding " * 100 + "the needle is here " + "padding " * 100
    shown = snippet(text, "where is the NEEDLE")
    assert "needle is here" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")


def test_without_any_of_them_the_beginning_is_shown():
    text = "first words " + "padding " * 100
    assert snippet(text, "unicorn").startswith("first words")


@given(st.text(max_size=800), st.text(max_size=40))
def test_it_is_never_long_and_never_fails(text, query):
    assert len(snippet(text, query)) <= LENGTH + 4
