"""A tokenizer that remembers its words says what the tokenizer says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tokens.conftest import TEXTS, train

from retrolex.tokens import cutting
from retrolex.words import begins_word, is_attached

ODD = [" ", "\t", "\n", "\r", "\x0b", "\x1c", "\x85", "\xa0", "\u2028", "\u200b", "\u3000", "\x00", "\ufeff", "\u0301", "\xad"]
ODD += [
    "東",
    "ひらがな",
    "カーテン",
    "ภาษาไทย",
    "東京でPython",
    "é",
    "e\u0301",
    "ß",
    "İ",
    "Σ",
    "हिन्दी",
    "كتاب؟",
    "<m>",
    "<s>",
    "[unused0]",
    "##ing",
    "wing",
    "Wing",
    "don't",
    ".",
    "½",
    "aircraft",
    "x" * 120,
]
mixtures = st.lists(st.lists(st.sampled_from(ODD) | st.text(max_size=4), max_size=30).map("".join), max_size=5)


def assert_same(found: cutting.Cut, expected: cutting.Cut) -> None:
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


@pytest.fixture(scope="module")
def table():
    return cutting.WordTable(train("wordpiece").backend_tokenizer)


@settings(max_examples=200, deadline=None)
@given(mixtures)
def test_word_by_word_is_the_same_as_at_once(table, texts):
    assert_same(table(texts), cutting.cut(table.backend, texts))


def test_a_forgetful_table_says_the_same(monkeypatch):
    monkeypatch.setattr(cutting, "REMEMBERED", 10)
    table = cutting.WordTable(train("wordpiece").backend_tokenizer)
    for texts in (TEXTS, TEXTS[:2], TEXTS[2:]):
        assert_same(table(texts), cutting.cut(table.backend, texts))
    assert "fuselage." not in table.numbers


def test_only_berts_own_way_is_taken_word_by_word(tokenizer, request):
    assert cutting.word_by_word(tokenizer.backend_tokenizer) == (request.node.callspec.params["tokenizer"] == "wordpiece")
    other = train("wordpiece")
    other.add_tokens(["two words"])
    assert not cutting.word_by_word(other.backend_tokenizer)


def test_no_texts_and_empty_texts(table):
    assert [len(part) for part in table([])] == [0, 0, 0]
    assert table(["", " \n", "wing"]).lengths.tolist()[:2] == [0, 0]


UNSPACED = {
    "chinese": "無人機在二〇〇八年的北京奧運會上，首次使用Python程式語言。",
    "japanese": "東京でコーヒーを飲みながら、がんばってプログラムを書きました。",
    "thai": "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
    "khmer": "ភាសាខ្មែរសរសេរដោយគ្មានចន្លោះ",
    "myanmar": "မြန်မာဘာသာစကား",
}


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
@pytest.mark.parametrize("language", UNSPACED)
def test_without_spaces_every_token_starts_a_word(kind, language):
    """Save tokens that spell one character together, and marks that sit on the character before them."""
    text = UNSPACED[language]
    tokenizer = train(kind, [text, "a few words of English too"])
    texts = [text, f"in {text} and out", "words"]
    found, first = cutting.cut(tokenizer.backend_tokenizer, texts), 0
    for row, length in zip(texts, found.lengths, strict=True):
        encoding = tokenizer(row, add_special_tokens=False, return_offsets_mapping=True)
        assert len(encoding["input_ids"]) == length
        words, before = encoding.word_ids(), (None, 0)
        for start, word, (begin, stop) in zip(found.starts[first : first + length], words, encoding["offset_mapping"], strict=True):
            inside = stop == begin or begin < before[1] or is_attached(row[begin])
            parts = not inside and before[1] > 0 and (begins_word(row[begin]) or begins_word(row[before[1] - 1]))
            assert start == (word != before[0] or parts), (row, begin)
            before = word, stop
        first += length
    if kind == "unigram":
        assert found.starts[: found.lengths[0]].mean() > 0.4  # the tokenizer itself sees one word here


def test_words_of_spaced_scripts_stay_what_the_tokenizer_says():
    tokenizer = train("unigram", ["the wings of aircraft " * 3, "хорошая погода सुन्दर"])
    text = "the wings хорошая सुन्दर"
    words = tokenizer(text, add_special_tokens=False).word_ids()
    assert cutting.cut(tokenizer.backend_tokenizer, [text]).starts.tolist() == [i == 0 or word != words[i - 1] for i, word in enumerate(words)]
