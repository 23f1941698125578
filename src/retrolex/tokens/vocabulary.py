"""What training needs to know of a tokenizer's vocabulary; no id is ever assumed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrolex.errors import UserError

SENTENCE_ENDS = frozenset(".!?…。！？｡؟।")
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
        sentence_ends: ids of full stops and their kin.
        ordinary: ids that a random replacement may take: neither special nor a placeholder such as [unused7]; [n] int64.
    """

    size: int
    first: int
    last: int
    pad: int
    mask: int
    special: tuple[int, ...]
    sentence_ends: tuple[int, ...]
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
            if MARKS.sub("", token) in SENTENCE_ENDS or tokenizer.convert_tokens_to_string([token]).strip() in SENTENCE_ENDS:
                ends.append(number)
        return cls(
            size=len(tokenizer),
            first=framed[0],
            last=framed[1],
            pad=tokenizer.pad_token_id,
            mask=tokenizer.mask_token_id,
            special=tuple(sorted(special)),
            sentence_ends=tuple(ends),
            ordinary=np.asarray(ordinary, dtype=np.int64),
        )
