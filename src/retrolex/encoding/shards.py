"""A whole collection to vectors, shard by shard: flat memory, and a killed run keeps every finished shard."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from retrolex.errors import UserError
from retrolex.progress import track

SHARD = 2048  # documents a shard; the grouping into batches starts anew in each, so a shard's bytes depend on its texts alone
CSR = ("data", "indices", "indptr", "shape")


def encode_shards(
    count: int, texts: Callable[[int, int], Sequence[str]], encode: Callable[[Sequence[str]], np.ndarray | sp.csr_array], folder: Path, label: str
) -> dict[str, int]:
    """Write ``shard-00000.npy`` and its like (CSR: ``shard-00000.data.npy``, ``.indices``, ``.indptr``, ``.shape``).

    Shards that are there already, left by a killed run, are not made again: a shard's last file is renamed into place
    only when the others are whole.

    Args:
        count: number of documents.
        texts: gives the texts from a position up to, not including, another.
        encode: texts to float32 [n, H], or to float32 CSR [n, V].

    Returns:
        Counts for a manifest.
    """
    starts = range(0, count, SHARD)
    nonzero = 0
    for number, start in enumerate(track(starts, label)):
        stem = f"shard-{number:05d}"
        if not finished(folder, stem):
            vectors = encode(texts(start, min(start + SHARD, count)))
            arrays = {"": vectors} if isinstance(vectors, np.ndarray) else {f".{part}": np.asarray(getattr(vectors, part)) for part in CSR}
            for part, array in arrays.items():
                save(folder / f"{stem}{part}.npy", array)
        if (folder / f"{stem}.data.npy").exists():
            nonzero += len(np.load(folder / f"{stem}.data.npy", mmap_mode="r"))
    return {"vectors": count, "shards": len(starts)} | ({"weights": nonzero} if nonzero else {})


def finished(folder: Path, stem: str) -> bool:
    """Whether a shard's last file is there."""
    return (folder / f"{stem}.npy").exists() or (folder / f"{stem}.{CSR[-1]}.npy").exists()


def save(path: Path, array: np.ndarray) -> None:
    """Write an array so that it is there whole or not at all."""
    temporary = path.with_suffix(".tmp")
    with open(temporary, "wb") as file:
        np.save(file, array, allow_pickle=False)
    os.replace(temporary, path)


def read_shards(folder: Path) -> Iterator[np.ndarray | sp.csr_array]:
    """The shards of a folder in order, memory-mapped.

    Raises:
        UserError: the folder holds none.
    """
    dense = sorted(folder.glob("shard-?????.npy"))
    for path in dense:
        yield np.load(path, mmap_mode="r")
    parts = sorted(folder.glob("shard-?????.data.npy"))
    for path in parts:
        data, indices, indptr, shape = (np.load(path.with_name(path.name.replace(".data.", f".{part}.")), mmap_mode="r") for part in CSR)
        yield sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
    if not dense and not parts:
        raise UserError("no vectors here (no shard-00000.npy)", where=folder, mend="encode the collection first")
