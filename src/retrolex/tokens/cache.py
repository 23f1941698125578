"""The token cache: a collection tokenised once, memory-mapped by every stage that reads it.

A folder of three flat arrays and a description, the same bytes whenever the same texts meet the same tokenizer:

    ids.npy      token ids of all documents, one after another, without special tokens; uint16, or int32 for V > 65,536
    offsets.npy  int64 [n + 1]: document i is ids[offsets[i] : offsets[i + 1]]
    starts.npy   one bit a token: 1 where a word starts (the tokenizer's own idea of a word; see `cutting.cut`)
    tokens.json  hashes of the tokenizer and of the texts, vocabulary size, counts; written last
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from retrolex.errors import UserError

DESCRIPTION = "tokens.json"


class Tokens:
    """A token cache opened for reading; nothing is loaded before it is used."""

    def __init__(self, folder: Path, description: dict[str, Any]):
        self.folder, self.description = folder, description
        self.ids = np.load(folder / "ids.npy", mmap_mode="r")
        self.offsets = np.load(folder / "offsets.npy", mmap_mode="r")
        self.starts = np.load(folder / "starts.npy", mmap_mode="r")

    @classmethod
    def open(cls, folder: Path) -> Tokens:
        """Open a folder that `tokenize` wrote.

        Raises:
            UserError: it is none, or it is unfinished.
        """
        path = Path(folder) / DESCRIPTION
        if not path.exists():
            raise UserError("not a token folder: it has no tokens.json", where=folder, mend="tokenise the collection first")
        return cls(Path(folder), json.loads(path.read_text(encoding="utf-8")))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, document: int) -> np.ndarray:
        """Token ids of one document, without special tokens."""
        if not -len(self) <= document < len(self):
            raise IndexError(document)
        document %= len(self)
        return self.ids[self.offsets[document] : self.offsets[document + 1]]

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens of each document, int64 [n]."""
        return np.diff(self.offsets)

    @property
    def total(self) -> int:
        """Tokens of all documents."""
        return int(self.offsets[-1])

    def word_starts(self, places: np.ndarray) -> np.ndarray:
        """Whether a word starts at each of these places in `ids`; bool, of the same shape."""
        return (self.starts[places >> 3] >> (7 - (places & 7)).astype(np.uint8)) & 1 == 1

    def unigrams(self) -> np.ndarray:
        """How often each vocabulary entry occurs, int64 [V]."""
        counts = np.zeros(self.description["vocabulary"], dtype=np.int64)
        for start in range(0, self.total, 1 << 24):
            counts += np.bincount(self.ids[start : start + (1 << 24)], minlength=len(counts))
        return counts
