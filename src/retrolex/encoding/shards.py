"""A whole collection to vectors, shard by shard: flat memory, and a killed run keeps every finished shard.

A shard is ``shard-00000.npy`` (dense: [n, H]), or ``shard-00000.data.npy`` with ``.indices``, ``.indptr`` and ``.shape`` (CSR [n, V]).
Its bytes depend on its texts alone, whoever makes it and whenever.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
import scipy.sparse as sp

from retrolex.errors import UserError
from retrolex.progress import track

SHARD = 2048  # documents a shard; the grouping into batches starts anew in each
CSR = ("data", "indices", "indptr", "shape")
WRITING = ".writing"  # ending of what is not whole yet
DTYPES = ("float32", "float16")


@dataclass(frozen=True)
class Shards:
    """Texts that are to be encoded, a shard at a time, by one process or many.

    Attributes:
        count: number of texts.
        texts: gives the texts from a position up to, not including, another.
        encode: texts to float32 [n, H], or to float32 CSR [n, V].
        folder: where the shards go.
        size: texts a shard.
        dtype: of the numbers as they are stored, one of `DTYPES`.
    """

    count: int
    texts: Callable[[int, int], Sequence[str]]
    encode: Callable[[Sequence[str]], np.ndarray | sp.csr_array]
    folder: Path
    size: int
    dtype: str = "float32"

    def __len__(self) -> int:
        return -(-self.count // self.size)

    def make(self, number: int) -> None:
        """Write a shard, unless it is there: its last file is renamed into place only when the others are whole.

        Raises:
            UserError: a number is too large for the dtype.
        """
        stem = f"shard-{number:05d}"
        if finished(self.folder, stem):
            return
        start = number * self.size
        vectors = self.encode(self.texts(start, min(start + self.size, self.count)))
        if isinstance(vectors, np.ndarray):
            arrays = {"": self._stored(vectors, stem)}
        else:
            arrays = {f".{part}": np.asarray(getattr(vectors, part)) for part in CSR}
            arrays[".data"] = self._stored(vectors.data, stem)
        for part, array in arrays.items():
            save(self.folder / f"{stem}{part}.npy", array)

    def _stored(self, numbers: np.ndarray, stem: str) -> np.ndarray:
        with np.errstate(over="ignore"):
            stored = numbers.astype(self.dtype, copy=False)
        if not np.isfinite(stored).all():
            mend = "store them in float32" if np.isfinite(numbers).all() else "use another model: this one computes infinities, or no numbers at all"
            raise UserError(f"{stem}: numbers that {self.dtype} cannot hold", mend=mend)
        return stored

    def counts(self) -> dict[str, int]:
        """Counts for a manifest, when all are made; what killed writers left half-written is removed."""
        for path in self.folder.glob(f"shard-*{WRITING}"):
            path.unlink(missing_ok=True)
        nonzero = sum(len(np.load(path, mmap_mode="r")) for path in self.folder.glob("shard-*.data.npy"))
        return {"vectors": self.count, "shards": len(self)} | ({"weights": nonzero} if nonzero else {})


def encode_shards(
    count: int, texts: Callable[[int, int], Sequence[str]], encode: Callable[[Sequence[str]], np.ndarray | sp.csr_array], folder: Path, label: str
) -> dict[str, int]:
    """Make all shards, those that a killed run left excepted; arguments as those of `Shards`, the result as that of `Shards.counts`."""
    shards = Shards(count, texts, encode, folder, SHARD)
    for number in track(range(len(shards)), label):
        shards.make(number)
    return shards.counts()


def finished(folder: Path, stem: str) -> bool:
    """Whether a shard's last file is there."""
    return (folder / f"{stem}.npy").exists() or (folder / f"{stem}.{CSR[-1]}.npy").exists()


def save(path: Path, array: np.ndarray) -> None:
    """Write an array so that it is there whole or not at all, even where two processes write it at once."""
    temporary = path.with_suffix(f".{uuid4().hex[:8]}{WRITING}")
    with open(temporary, "wb") as file:
        np.save(file, array, allow_pickle=False)
    os.replace(temporary, path)


def read_shards(folder: Path) -> Iterator[np.ndarray | sp.csr_array]:
    """The shards of a folder in order, in float32, memory-mapped where they are stored so.

    Raises:
        UserError: the folder holds none.
    """
    dense = in_order(folder.glob("shard-*[0-9].npy"))
    for path in dense:
        yield np.load(path, mmap_mode="r").astype(np.float32, copy=False)
    parts = in_order(folder.glob("shard-*.data.npy"))
    for path in parts:
        data, indices, indptr, shape = (np.load(path.with_name(path.name.replace(".data.", f".{part}.")), mmap_mode="r") for part in CSR)
        yield sp.csr_array((data.astype(np.float32, copy=False), indices, indptr), shape=tuple(shape.tolist()))
    if not dense and not parts:
        raise UserError("no vectors here (no shard-00000.npy)", where=folder, mend="encode the collection first")


def in_order(paths: Iterator[Path]) -> list[Path]:
    """Shards by their numbers, which may outgrow five digits."""
    return sorted(paths, key=lambda path: int(path.name.split("-")[1].split(".")[0]))
