"""Snippets show the words of the query, in one line."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrolex.search.snippets import LENGTH, LITTLE, densest, snippet


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


@pytest.mark.parametrize(
    ("padding", "needle", "query"),
    [
        ("這個句子裡沒有答案，", "無人機的攝影鏡頭", "什麼是攝影鏡頭？"),
        ("没有标点也没有空格的文字", "攝影鏡頭", "攝影鏡頭"),
        ("これは関係のない文です。", "富士山の高さ", "富士山はどのくらい高い"),
        ("ประโยคนี้ไม่มีคำตอบ", "ภูเขาไฟฟูจิ", "ภูเขาไฟอยู่ที่ไหน"),
        ("이 문장에는 답이 없습니다. ", "한국 전쟁", "한국"),
        ("yet another sentence about nothing; ", "on 5G networks", "5G"),
    ],
)
def test_the_match_is_shown_in_every_script(padding, needle, query):
    shown = snippet(padding * 60 + needle + padding * 60, query)
    assert needle in shown and len(shown) > LENGTH // 2 and shown.startswith("… ") and shown.endswith(" …")


def test_long_words_count_more_than_short_ones():
    text = "it is as it is of is to as " * 30 + "a needle " + "padding " * 100
    assert "needle" in snippet(text, "as it is of to: needle")


def test_the_densest_stretch_is_that_of_trying_all():
    rng = random.Random(1)
    for _ in range(50):
        starts = sorted(rng.sample(range(0, 300, 4), rng.randrange(1, 30)))
        places = [(start, start + len(word), word) for start in starts for word in [rng.choice(["lift", "wing", "of", "翼"])]]

        def worth(first: int, places: list[tuple[int, int, str]] = places) -> float:
            words = {word for start, stop, word in places if first <= start and stop <= first + 40}
            return sum(LITTLE if word == "of" else 1 for word in words)

        assert worth(densest(places, 40)) == pytest.approx(max(map(worth, starts)))


@given(st.text(max_size=800), st.text(max_size=40))
def test_it_is_never_long_and_never_fails(text, query):
    assert len(snippet(text, query)) <= LENGTH + 4
