"""A vocabulary learned from texts: the same for the same texts, of the size asked for, and whole."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.errors import UserError
from retrolex.tokens import Vocabulary
from retrolex.tokens.train_tokenizer import train_wordpiece, word_counts

TEXTS = [f"The river floods plain {number} and the rivers of the plains flood {number * 17}; naïve flooding!" for number in range(200)]
PRINT = """
import sys
from retrolex.tokens.train_tokenizer import train_wordpiece
print(train_wordpiece(sys.stdin.read().splitlines(), 120).backend_tokenizer.to_str())
"""


def test_a_tokenizer_of_the_size_asked_for():
    tokenizer = train_wordpiece(TEXTS, 120)
    vocabulary = Vocabulary.of(tokenizer)
    assert len(tokenizer) == vocabulary.size == 120
    assert (vocabulary.pad, vocabulary.mask, len(vocabulary.special)) == (0, 4, 5)
    assert tokenizer.tokenize("The RIVER floods.") == ["the", "river", "floods", "[UNK]"]  # no full stop in the texts
    assert tokenizer("river", "plain")["input_ids"][0] == tokenizer.cls_token_id
    assert tokenizer.decode(tokenizer("the rivers flood")["input_ids"], skip_special_tokens=True) == "the rivers flood"


def test_the_same_texts_give_the_same_vocabulary_in_another_process():
    printed = [
        subprocess.run([sys.executable, "-c", PRINT], input="\n".join(TEXTS), capture_output=True, encoding="utf-8", check=True).stdout
        for _ in range(2)
    ]
    assert len(set(printed)) == 1


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_texts_are_cut_without_unknown_tokens_while_characters_fit(texts):
    if not word_counts(texts):
        with pytest.raises(UserError, match="no text"):
            train_wordpiece(texts, 4000)
        return
    tokenizer = train_wordpiece(texts, 4000)  # room for a thousand characters
    special = set(tokenizer.all_special_tokens)
    for text in texts:
        if not any(token in text for token in special):
            assert tokenizer.unk_token not in tokenizer.tokenize(text)


def test_rare_characters_give_way():
    texts = ["common words " * 50, "".join(chr(code) for code in range(0x4E00, 0x4F00))]
    tokenizer = train_wordpiece(texts, 100)
    assert len(tokenizer) <= 100
    assert tokenizer.unk_token not in tokenizer.tokenize("common words")
