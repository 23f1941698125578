"""Mask laws on batches of real tokenizers, WordPiece, byte-level BPE and SentencePiece, against the tokenizer's own word ids.

In a script without spaces, where some of them take a whole clause for a word, a word is a character.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tokens.conftest import TEXTS, train

from retrolex.pretraining.batches import BatchMaker, Masking
from retrolex.tokens import Tokens, Vocabulary, chunk, tokenize

VIEWS = ("visibility", "inclusive", "random", "exclusive")


@pytest.fixture(scope="module", params=["wordpiece", "bpe", "unigram"])
def text(request, tmp_path_factory):
    """A function from a masking to a BatchMaker over whole documents; and the word of every token of each, by the tokenizer itself."""
    tokenizer, folder = train(request.param), tmp_path_factory.mktemp("tokens")
    tokenize(TEXTS, tokenizer, folder)
    tokens, vocabulary = Tokens.open(folder), Vocabulary.of(tokenizer)
    chunks = chunk(tokens, 2000)  # longer than any text: one chunk a document
    words = [words_of(tokenizer, TEXTS[row]) for row in chunks.document]
    return lambda masking, seed: BatchMaker(tokens, chunks, vocabulary, masking, seed), words


def words_of(tokenizer, text):
    """A number a token, the same for tokens of one word."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    places = encoded["offset_mapping"]
    return [
        len(text) + stop if set(text[start:stop]) & set("東京都") else word for word, (start, stop) in zip(encoded.word_ids(), places, strict=True)
    ]


@settings(max_examples=12, deadline=None)
@given(rate=st.sampled_from([0.15, 0.3, 0.5]), view=st.sampled_from(VIEWS), step=st.integers(0, 2**40), seed=st.integers(0, 99))
def test_laws(text, rate, view, step, seed):
    make, words = text
    maker = make(Masking(rate, 0.5, "mask", view), seed)
    batch = {name: values.numpy() for name, values in maker(np.arange(len(words)), step).items()}
    encoder = batch["encoder_labels"] != -100
    ordinary = np.isin(batch["input_ids"], list(maker.vocabulary.special), invert=True) & batch["attention_mask"].astype(bool)
    decoder = batch["decoder_labels"] != -100
    for row, word in enumerate(words):
        word = np.array(word)
        here = slice(1, len(word) + 1)
        assert not (encoder[row] & ~ordinary[row]).any() and not (decoder[row] & ~ordinary[row]).any()
        longest = np.bincount(word).max()
        assert abs(encoder[row].sum() - max(1, rate * ordinary[row].sum())) <= longest
        assert whole(encoder[row, here], word, ordinary[row, here])
        if view == "visibility":
            visible = batch["decoder_visible"][row]
            assert visible[1:, 0].all() and not visible.diagonal().any() and not visible[:, len(word) + 2 :].any()
            place = len(word) // 2
            hidden = ~visible[1 + place, here]
            others = np.arange(len(word)) != place
            assert whole(hidden[others], word[others], ordinary[row, here][others])
        else:
            assert whole(decoder[row, here], word, ordinary[row, here])
        if view == "inclusive":
            assert (decoder[row] | ~encoder[row]).all()
        if view == "exclusive":
            assert not (decoder[row] & encoder[row]).any()


def whole(chosen: np.ndarray, word: np.ndarray, ordinary: np.ndarray) -> bool:
    """Whether every word is chosen with all its ordinary tokens or with none, unless a special token stands between them."""
    return all(len(set(chosen[(word == number) & ordinary])) <= 1 for number in set(word))
