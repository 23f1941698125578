"""Chunks lose nothing, overlap nowhere, and end where sentences end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tokens.conftest import train

from retrolex.tokens import Tokens, Vocabulary, chunk, tokenize
from retrolex.tokens.vocabulary import ends_sentence


class Flat:
    """As much of a token cache as `chunk` needs, in memory."""

    def __init__(self, documents, starts):
        self.ids = np.asarray([number for document in documents for number in document], dtype=np.int64)
        self.offsets = np.cumsum([0, *map(len, documents)])
        self.lengths, self.flags = np.diff(self.offsets), np.resize(starts, len(self.ids))

    def word_starts(self, places):
        return self.flags[places]


documents = st.lists(st.lists(st.integers(0, 9), max_size=80), min_size=1, max_size=6)


@settings(max_examples=100, deadline=None)
@given(documents, st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 20))
def test_every_token_is_in_exactly_one_chunk(documents, starts, limit):
    tokens = Flat(documents, np.asarray(starts))
    pieces = chunk(tokens, limit, ((0,),))
    assert (pieces.lengths >= 1).all() and (pieces.lengths <= limit).all()
    covered = [place for start, stop in zip(pieces.start, pieces.stop, strict=True) for place in range(start, stop)]
    assert covered == list(range(len(tokens.ids)))
    for document, start, stop in zip(*pieces, strict=True):
        assert tokens.offsets[document] <= start < stop <= tokens.offsets[document + 1]


def test_cuts_are_at_sentence_ends_and_even():
    sentence = [1, 2, 3, 4, 0]
    pieces = chunk(Flat([sentence * 10], np.array([True])), 22, ((0,),))
    assert pieces.lengths.tolist() == [15, 15, 20]


def test_without_sentence_ends_words_stay_whole():
    pieces = chunk(Flat([[1] * 30], np.array([True, False, False, False])), 10)
    assert (pieces.start % 4 == 0).all()


def test_a_word_longer_than_a_chunk_is_cut():
    assert chunk(Flat([[1] * 25], np.array([False])), 10).lengths.tolist() == [10, 10, 5]


def test_real_sentences(tokenizer, texts, tmp_path):
    tokenize(texts, tokenizer, tmp_path)
    tokens, vocabulary = Tokens.open(tmp_path), Vocabulary.of(tokenizer)
    pieces = chunk(tokens, 60, vocabulary.sentence_ends)
    last = len(texts) - 1
    ends = pieces.stop[pieces.document == last]
    assert len(ends) > 2
    assert all(tokenizer.decode(tokens.ids[end - 1 : end]).strip() == "." for end in ends[:-1])


SCRIPTS = {
    "chinese": "机翼承受机身的重量。河水淹没平原！面包需要酵母吗？",
    "japanese": "翼は機体の重さを支える。川は平野を浸す！パンに酵母は必要か？",
    "hindi": "पंख विमान का भार उठाता है। नदी मैदान को डुबो देती है। रोटी को खमीर चाहिए। ",
    "arabic": "يحمل الجناح وزن الطائرة. هل يغمر النهر السهل؟ يحتاج الخبز إلى الخميرة! ",
    "urdu": "پر جہاز کا وزن اٹھاتا ہے۔ دریا میدان کو ڈبو دیتا ہے۔ کیا روٹی کو خمیر چاہیے؟ ",
}


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_sentences_of_other_scripts(kind, script, tmp_path):
    tokenizer = train(kind, list(SCRIPTS.values()))
    tokenize([SCRIPTS[script] * 10], tokenizer, tmp_path)
    tokens, vocabulary = Tokens.open(tmp_path), Vocabulary.of(tokenizer)
    pieces = chunk(tokens, tokens.total // 6, vocabulary.sentence_ends)
    assert len(pieces.stop) > 5 and np.array_equal(pieces.start[1:], pieces.stop[:-1])
    decoded = [tokenizer.decode(tokens.ids[start:stop]).strip() for start, stop in zip(pieces.start, pieces.stop, strict=True)]
    assert all(ends_sentence(text[-1]) for text in decoded), decoded


def test_an_end_spelled_in_several_tokens():
    documents = [[7, 7, 7, 8, 9, 7, 7, 7, 8, 9, 7, 9, 7]]
    assert chunk(Flat(documents, np.array([True])), 6, ((8, 9),)).stop.tolist() == [5, 10, 13]


def test_a_length_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        chunk(Flat([[1]], np.array([True])), 0)
