"""Words, terms, places to cut at and ends of sentences, in scripts with spaces and without."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrolex.index.analysis import Analyzer, normalize
from retrolex.words import border, first_sentence, is_unspaced, spans, term_spans

MIXED = st.lists(
    st.sampled_from(["東京", "ひ", "カーテン", "ภาษาไทย", "word", " ", "C3", "é", "e\u0301", "हिन्दी", "。", ".", "한국어"]), max_size=12
).map("".join)


def parts(text: str, found: list[tuple[int, int]]) -> list[str]:
    return [text[start:stop] for start, stop in found]


def test_words():
    for text, words in (
        ("It's café_2 e\u0301t हिन्दी", ["It", "s", "café_2", "e\u0301t", "हिन्दी"]),
        ("用Python写程序", ["用", "Python", "写", "程", "序"]),
        ("コーヒーが", ["コー", "ヒー", "が"]),
        ("한국어 낱말", ["한국어", "낱말"]),
    ):
        assert parts(text, spans(text)) == words
    assert "".join(parts("ภาษาไทย", spans("ภาษาไทย"))) == "ภาษาไทย" and len(spans("ภาษาไทย")) == 3


@given(MIXED | st.text(max_size=30))
def test_terms_are_those_of_bm25(text):
    """Where normalising leaves the text alone, for otherwise places mean nothing."""
    if text == normalize(text):
        assert parts(text, term_spans(text)) == Analyzer("other").terms(text)


def test_terms_of_unspaced_text():
    for text in ("二〇〇八年的北京 2008 beijing", "ภาษาไทย", "がんばって"):
        assert parts(text, term_spans(text)) == Analyzer("other").terms(text)


@given(MIXED, st.integers(0, 60))
def test_a_border_is_near_and_not_before_a_mark(text, place):
    at = border(text, place)
    assert max(0, min(place, len(text)) - 40) <= at <= max(place, len(text))
    if 0 < at < min(place, len(text)):
        assert text[at - 1] == " " or is_unspaced(text[at]) or is_unspaced(text[at - 1])


@pytest.mark.parametrize(
    "sentence",
    [
        "First one.",
        "第一句。",
        "「何ですか？」",
        "पहला वाक्य।",
        "هل هذا؟",
        "ပထမဝါကျ။",
        "ប្រយោគទីមួយ។",
        "Version 1.5 is out!",
        "３．５倍になった。",
        'He said "stop."',
    ],
)
def test_the_first_sentence(sentence):
    gap = "" if sentence[-1] in "。」။" else " "
    assert first_sentence(f"{sentence}{gap}Another one follows.") == len(sentence)
    assert first_sentence("ภาษาไทย no end") is None
