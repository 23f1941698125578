"""The token cache says what the tokenizer says."""

from __future__ import annotations

import numpy as np
import pytest

from retrolex.errors import UserError
from retrolex.tokens import Tokens, tokenize, writing


@pytest.fixture
def tokens(tokenizer, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "BATCH", 2)
    counts = tokenize(iter(texts), tokenizer, tmp_path / "tokens")
    assert counts["documents"] == len(texts) and counts["empty"] == 1
    return Tokens.open(tmp_path / "tokens")


def test_rows_are_what_the_tokenizer_says(tokens, tokenizer, texts):
    assert len(tokens) == len(texts)
    for row, text in enumerate(texts):
        assert tokens[row].tolist() == tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokens.ids.dtype == np.uint16
    assert tokens.total == tokens.lengths.sum() == tokens.description["counts"]["tokens"]


def test_word_starts_are_the_tokenizers(tokens, tokenizer, texts):
    for row, text in enumerate(texts):
        encoding = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        words, places = encoding.word_ids(), encoding["offset_mapping"]
        expected = [index == 0 or word is None or word != words[index - 1] for index, word in enumerate(words)]
        for index in range(1, len(words)):  # save in scripts without spaces, see test_cutting.py
            (_, before), (begin, _) = places[index - 1 : index + 1]
            expected[index] |= begin >= before and not {text[begin], text[before - 1]}.isdisjoint("東京都")
        places = np.arange(tokens.offsets[row], tokens.offsets[row + 1])
        assert tokens.word_starts(places).tolist() == expected


def test_same_input_same_bytes_whatever_the_batch_size(tokenizer, texts, tmp_path, monkeypatch):
    for name, size in (("a", 2), ("b", 1000)):
        monkeypatch.setattr(writing, "BATCH", size)
        tokenize(texts, tokenizer, tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_unigrams_count_every_token(tokens):
    counts = tokens.unigrams()
    assert counts.sum() == tokens.total and len(counts) == tokens.description["vocabulary"]
    assert counts[tokens[0][0]] == (tokens.ids == tokens[0][0]).sum()


def test_negative_rows_and_rows_beyond_the_end(tokens):
    assert tokens[-1].tolist() == tokens[len(tokens) - 1].tolist()
    with pytest.raises(IndexError):
        tokens[len(tokens)]


def test_no_text_at_all(tokenizer, tmp_path):
    assert tokenize([], tokenizer, tmp_path) == {"documents": 0, "empty": 0, "tokens": 0}
    assert len(Tokens.open(tmp_path)) == 0


def test_other_folders_are_refused(tmp_path):
    with pytest.raises(UserError, match="not a token folder"):
        Tokens.open(tmp_path)
