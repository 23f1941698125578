"""The token cache: a collection tokenised once, memory-mapped by every stage that reads it.

A folder of three flat arrays and a description, the same bytes whenever the same texts meet the same tokenizer:

    ids.npy      token ids of all documents, one after another, without special tokens; uint16, or int32 for V > 65,536
    offsets.npy  int64 [n + 1]: document i is ids[offsets[i] : offsets[i + 1]]
    starts.npy   one bit a token: 1 where a word starts (the tokenizer's own idea of a word)
    tokens.json  hash of the tokenizer, vocabulary size, counts
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from retrolex.artifacts import write_json
from retrolex.errors import UserError

DESCRIPTION = "tokens.json"
BATCH = 1000  # documents tokenised at a time


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


def tokenizer_hash(tokenizer: Any) -> str:
    """Hash of everything that decides how a fast tokenizer cuts text."""
    return hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest()


def tokenize(texts: Iterable[str], tokenizer: Any, folder: Path) -> dict[str, int]:
    """Tokenise texts, one row a text, into `folder`; returns the counts of documents, empty ones and tokens.

    Raises:
        UserError: the tokenizer is a slow one, which knows no words.
    """
    if not tokenizer.is_fast:
        raise UserError("the tokenizer has no fast form, which is needed to know where words start", where=tokenizer.name_or_path)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # A truncation that the tokenizer file itself prescribes would cut documents short.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    vocabulary = len(tokenizer)
    offsets, bits = [np.zeros(1, dtype=np.int64)], BitWriter()
    with FlatFile(folder / "ids.npy", np.uint16 if vocabulary <= 1 << 16 else np.int32) as ids, FlatFile(folder / "starts.npy", np.uint8) as starts:
        for batch in batches(texts):
            encodings = tokenizer.backend_tokenizer.encode_batch(batch, add_special_tokens=False)
            lengths = np.fromiter((len(encoding.ids) for encoding in encodings), np.int64, len(encodings))
            offsets.append(offsets[-1][-1] + np.cumsum(lengths))
            ids.append(np.fromiter((number for encoding in encodings for number in encoding.ids), ids.dtype, lengths.sum()))
            words = np.fromiter((-1 if word is None else word for encoding in encodings for word in encoding.word_ids), np.int64, lengths.sum())
            first = np.ones(len(words), dtype=bool)
            first[1:] = (words[1:] != words[:-1]) | (words[1:] < 0)  # a token outside all words stands alone
            borders = offsets[-1] - lengths - offsets[-2][-1]
            first[borders[lengths > 0]] = True
            starts.append(bits.pack(first))
        starts.append(bits.rest())
    table = np.concatenate(offsets)
    np.save(folder / "offsets.npy", table)
    counts = {"documents": len(table) - 1, "empty": int((np.diff(table) == 0).sum()), "tokens": int(table[-1])}
    write_json(folder / DESCRIPTION, {"tokenizer": tokenizer_hash(tokenizer), "vocabulary": vocabulary, "counts": counts})
    return counts


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Lists of up to BATCH texts."""
    rest = iter(texts)
    while batch := list(islice(rest, BATCH)):
        yield batch


class FlatFile:
    """A one-dimensional .npy file written piece by piece, its length unknown until it is closed."""

    def __init__(self, path: Path, dtype: type):
        self.path, self.dtype, self.length = path, np.dtype(dtype), 0

    def __enter__(self) -> FlatFile:
        self.file = open(self.path, "wb")
        self.header()
        return self

    def header(self) -> None:
        # numpy pads the header so that a longer shape fits into the same bytes.
        npy.write_array_header_1_0(self.file, {"descr": npy.dtype_to_descr(self.dtype), "fortran_order": False, "shape": (self.length,)})

    def append(self, values: np.ndarray) -> None:
        """Add values at the end."""
        self.file.write(values.astype(self.dtype, copy=False).tobytes())
        self.length += len(values)

    def __exit__(self, *error: object) -> None:
        self.file.seek(0)
        self.header()
        self.file.close()


class BitWriter:
    """Packs a stream of booleans into bytes, whatever the sizes of its pieces."""

    def __init__(self) -> None:
        self.left = np.zeros(0, dtype=bool)

    def pack(self, flags: np.ndarray) -> np.ndarray:
        """The bytes that are complete after these flags."""
        flags = np.concatenate([self.left, flags])
        whole = len(flags) // 8 * 8
        self.left = flags[whole:]
        return np.packbits(flags[:whole])

    def rest(self) -> np.ndarray:
        """The last, partly filled byte, if there is one."""
        return np.packbits(self.left)
