"""Title and text joined by a string are the pair that the tokenizer makes of the two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tokens.conftest import train

from retrolex.backbones.joining import rejoined, separator
from retrolex.collection import Document
from retrolex.errors import UserError

PARTS = [("Wing load", "The wing of an aircraft carries the load."), ("naïve café", "東京都 ½ don't"), ("x", "One two three.\nFour")]


@pytest.fixture(scope="module", params=["wordpiece", "bpe", "unigram"])
def tokenizer(request):
    """With the pair's frame of BERT, and of RoBERTa for byte-level BPE."""
    from tokenizers import processors

    tokenizer = train(request.param)
    middle = "<s> <s>" if request.param == "bpe" else "<s>"
    frame = [(name, tokenizer.convert_tokens_to_ids(name)) for name in ("<c>", "<s>")]
    template = processors.TemplateProcessing(single="<c> $A <s>", pair=f"<c> $A {middle} $B <s>", special_tokens=frame)
    tokenizer.backend_tokenizer.post_processor = template
    return tokenizer


@pytest.mark.parametrize(("title", "text"), PARTS)
def test_a_pair_is_the_tokenizers_pair(tokenizer, title, text):
    joined = Document("d", title, text).joined(separator(tokenizer, "pair"))
    assert tokenizer(joined)["input_ids"] == tokenizer(title, text)["input_ids"]


def test_a_separator_is_one_token(tokenizer):
    ids = tokenizer(Document("d", "wing", "load").joined(separator(tokenizer, "separator")))["input_ids"]
    assert ids.count(tokenizer.sep_token_id) == 2  # between, and at the end
    assert separator(tokenizer, "space") == " "


def test_a_tokenizer_without_separator_is_refused():
    class Bare:
        sep_token_id = None

    with pytest.raises(UserError, match="join title and text by a space"):
        separator(Bare(), "separator")


parts = st.text(max_size=8)


@given(parts, parts)
def test_by_a_space_it_is_the_full_text(title, text):
    assert Document("d", title, text).joined(" ") == Document("d", title, text).full == f"{title} {text}".strip()


def test_an_empty_part_takes_no_separator():
    assert [Document("d", *pair).joined("[SEP]") for pair in (("", " b"), ("a", ""), ("a", "b"))] == ["b", "a", "a[SEP]b"]


def test_texts_that_begin_with_their_title_are_joined_again():
    assert rejoined("a  title".replace("  ", " ") + " and text", "a \n title", "[SEP]") == "a title[SEP]and text"
    assert rejoined("text without", "a title", "[SEP]") == "text without"
    assert rejoined("a titled text", "a title", "[SEP]") == "a titled text"
    assert rejoined("a title text", "a title", " ") == "a title text"
