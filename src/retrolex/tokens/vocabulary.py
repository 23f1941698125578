"""What training needs to know of a tokenizer's vocabulary; no id is ever assumed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrolex.errors import UserError
from retrolex.words import CLOSING, STOPS

PLAIN_ENDS = frozenset(STOPS)  # at the end of any token they end a sentence
SENTENCE_ENDS = PLAIN_ENDS | frozenset(".…")  # these two only by themselves: a token such as "etc." is none
PLACEHOLDER = re.compile(r"\[unused\d+\]|<unused\d+>|madeupword\d+|\|\|\|.*\|\|\|")
MARKS = re.compile("^(##|▁|Ġ)")  # how WordPiece, SentencePiece and byte-level BPE mark a token's place in its word


@dataclass(frozen=True)
class Vocabulary:
    """The ids with a meaning of their own.

    Attributes:
        size: number of entries, added ones included.
        first, last: put before and after a text ([CLS] and [SEP], or <s> and </s>).
        pad, mask: padding and [MASK].
        special: all special ids.
        sentence_ends: tokens of full stops and their kin in all scripts: sequences of ids, most of one id; a byte-level
            vocabulary may spell a rare one in several.
        ordinary: ids that a random replacement may take: neither special nor a placeholder such as [unused7]; [n] int64.
    """

    size: int
    first: int
    last: int
    pad: int
    mask: int
    special: tuple[int, ...]
    sentence_ends: tuple[tuple[int, ...], ...]
    ordinary: np.ndarray

    @classmethod
    def of(cls, tokenizer: Any) -> Vocabulary:
        """Read a Hugging Face tokenizer.

        Raises:
            UserError: it has no padding or no mask token, or puts something other than one token before and after a text.
        """
        name = getattr(tokenizer, "name_or_path", "") or "tokenizer"
        for kind in ("pad", "mask"):
            if getattr(tokenizer, f"{kind}_token_id") is None:
                raise UserError(f"the tokenizer has no {kind} token", where=name, mend="start from a masked language model such as BERT")
        framed = tokenizer("", add_special_tokens=True)["input_ids"]
        if len(framed) != 2:
            raise UserError(f"the tokenizer frames a text by {len(framed)} special tokens (expected one before, one after)", where=name)
        special = frozenset(tokenizer.all_special_ids)
        ordinary, ends = [], []
        for token, number in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]):
            if number not in special and not PLACEHOLDER.fullmatch(token):
                ordinary.append(number)
            if number not in special and (ends_sentence(MARKS.sub("", token)) or ends_sentence(tokenizer.convert_tokens_to_string([token]))):
                ends.append((number,))
        return cls(
            size=len(tokenizer),
            first=framed[0],
            last=framed[1],
            pad=tokenizer.pad_token_id,
            mask=tokenizer.mask_token_id,
            special=tuple(sorted(special)),
            sentence_ends=(*ends, *spelled(tokenizer, {sequence[0] for sequence in ends})),
            ordinary=np.asarray(ordinary, dtype=np.int64),
        )


def ends_sentence(text: str) -> bool:
    """Whether a token with this text ends a sentence."""
    bare = text.strip().rstrip(CLOSING)
    return bool(bare) and (bare[-1] in PLAIN_ENDS or set(bare) <= SENTENCE_ENDS)


def spelled(tokenizer: Any, known: set[int]) -> list[tuple[int, ...]]:
    """Sentence ends that have no token of their own and are spelled in several, as after a word."""
    word, found = tokenizer("a", add_special_tokens=False)["input_ids"], []
    for mark in sorted(SENTENCE_ENDS):
        ids = tokenizer(f"a{mark}", add_special_tokens=False)["input_ids"]
        rest = ids[len(word) :]
        if ids[: len(word)] == word and len(rest) > 1 and rest[-1] not in known and tokenizer.unk_token_id not in rest:
            found.append(tuple(rest))
    return found
