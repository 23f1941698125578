"""No id is assumed: everything is read from the tokenizer."""

from __future__ import annotations

import pytest

from retrolex.errors import UserError
from retrolex.tokens import Vocabulary
from retrolex.tokens.vocabulary import ends_sentence


def test_special_ids_are_the_tokenizers(tokenizer):
    vocabulary = Vocabulary.of(tokenizer)
    assert vocabulary.first == tokenizer.cls_token_id and vocabulary.last == tokenizer.sep_token_id
    assert vocabulary.mask == tokenizer.mask_token_id and vocabulary.pad == tokenizer.pad_token_id
    assert set(vocabulary.special) == set(tokenizer.all_special_ids)


def test_ordinary_ids_are_neither_special_nor_placeholders(tokenizer):
    vocabulary = Vocabulary.of(tokenizer)
    assert not set(vocabulary.ordinary) & set(vocabulary.special)
    assert not any("unused" in token for token in tokenizer.convert_ids_to_tokens(vocabulary.ordinary.tolist()))


def test_sentence_ends(tokenizer):
    ends = {tokenizer.decode(list(end)).strip() for end in Vocabulary.of(tokenizer).sentence_ends}
    assert {".", "!", "?"} <= ends and all(ends_sentence(end) for end in ends)


def test_what_ends_a_sentence():
    assert all(map(ends_sentence, [".", " .", "...", '."', "!)", "了。", "؟", "كتاب؟", "।", "۔", "。」", "?!"]))
    assert not any(map(ends_sentence, ["", '"', "etc.", "U.S.", "a", ",", "、", "3.", ":"]))


def test_a_tokenizer_without_mask_is_refused(tokenizer):
    class Maskless:
        name_or_path, pad_token_id, mask_token_id = "x", 0, None

    with pytest.raises(UserError, match="no mask token"):
        Vocabulary.of(Maskless())
