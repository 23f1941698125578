"""A document's cached tokens as a model reads them: cut to its length, between the special tokens."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from retrolex.errors import UserError
from retrolex.tokens.cache import Tokens
from retrolex.tokens.writing import tokenizer_hash


class Framing:
    """What a model's tokenizer puts around a document.

    Args:
        tokenizer: the model's.
        prefix: of documents.
        length: longest input in tokens, special tokens included.
    """

    def __init__(self, tokenizer: Any, prefix: str, length: int):
        self.tokenizer, self.prefix, self.length = tokenizer, prefix, length

    @cached_property
    def frame(self) -> tuple[list[int], list[int]]:
        """What stands before and after the ids of a document: the special tokens, and the prefix after the first.

        Raises:
            UserError: the tokenizer does not put one token before a text and one after.
        """
        special = self.tokenizer("")["input_ids"]
        if len(special) != 2:
            found = f"the tokenizer frames a text by {len(special)} special tokens (expected one before, one after)"
            raise UserError(found, where=self.tokenizer.name_or_path)
        prefix = self.tokenizer(self.prefix.rstrip(), add_special_tokens=False)["input_ids"]
        return [special[0], *prefix], special[1:]

    @property
    def room(self) -> int:
        """Ids of a document that one input holds."""
        return self.length - sum(map(len, self.frame))

    def framed(self, ids: np.ndarray) -> list[int]:
        """Ids of a document or a window of one, cut to the model's length and put into the frame."""
        before, after = self.frame
        return [*before, *ids[: self.room].tolist(), *after]

    def reads(self, tokens: Tokens) -> bool:
        """Whether `framed` rows of this cache are what the tokenizer makes of the texts: it is the same and cuts on the right, and no prefix
        can melt into the first word."""
        same = tokens.description["tokenizer"] == tokenizer_hash(self.tokenizer)
        return same and not self.prefix and self.tokenizer.truncation_side == "right" and len(self.tokenizer("")["input_ids"]) == 2
