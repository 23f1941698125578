"""Building: one pass over the vectors, one block of 65,536 documents in memory at a time.

A block's data depends on nothing outside it, and is appended to the arrays (docs/index-format.md).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from retrolex.errors import UserError
from retrolex.index.base import check_ids
from retrolex.index.lexicon import storage
from retrolex.index.lexicon.storage import BLOCK, GROUP, NONE, PADDING
from retrolex.index.lexicon.weights import Weights, impacts

FREQUENT_SHARE = 0.07  # of a block's documents: from about here on, a bit and a byte beat three bytes a posting, and bounds skip many of them


def build(folder: Path, ids: list[str], vectors: sparse.csr_array | Iterable[sparse.csr_array], weights: Weights) -> None:
    """Write an index of `vectors` (rows are documents, columns terms) to `folder`, whole or not at all."""
    build_from_impacts(folder, ids, _impact_blocks(ids, vectors, weights), weights)


def build_from_impacts(folder: Path, ids: list[str], impact_blocks: Iterable[sparse.csr_array], weights: Weights) -> None:
    """The same from impacts, in blocks of 65,536 rows (the last may be shorter)."""
    check_ids(ids)
    partial = storage.begin(folder)
    try:
        (partial / storage.IDS).write_text("[" + ",\n".join(map(json.dumps, ids)) + "]\n", encoding="utf-8")
        writer = BlockWriter(partial, weights)
        for block in impact_blocks:
            writer.write(block)
        storage.write_header(partial, weights, len(ids), writer.close())
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    storage.publish(partial, folder)


def _impact_blocks(ids: list[str], vectors: sparse.csr_array | Iterable[sparse.csr_array], weights: Weights) -> Iterator[sparse.csr_array]:
    start = 0
    for block in blocks(vectors):
        if start + block.shape[0] > len(ids):
            raise UserError(f"more vectors than the {len(ids):,} document ids", mend="give one id a vector, in the same order")
        pointers, terms, values = impacts(block, weights, lambda row, start=start: f"document {ids[start + row]!r}")
        yield sparse.csr_array((values, terms, pointers), shape=block.shape)
        start += block.shape[0]
    if start != len(ids):
        raise UserError(f"{start:,} vectors for {len(ids):,} document ids", mend="give one id a vector, in the same order")


def blocks(vectors: sparse.csr_array | Iterable[sparse.csr_array]) -> Iterator[sparse.csr_array]:
    """Cut shards of any size into blocks of 65,536 rows (the last may be shorter)."""
    shards = [vectors] if sparse.issparse(vectors) else vectors
    parts: list[sparse.csr_array] = []
    width, rows = None, 0
    for number, shard in enumerate(map(sparse.csr_array, shards)):
        if width is not None and shard.shape[1] != width:
            raise UserError(
                f"shard {number} has {shard.shape[1]:,} terms where the others have {width:,}", mend="encode all documents with one model"
            )
        width, start = shard.shape[1], 0
        while start < shard.shape[0]:
            part = shard[start : start + BLOCK - rows]
            parts.append(part)
            rows, start = rows + part.shape[0], start + part.shape[0]
            if rows == BLOCK:
                yield sparse.vstack(parts, format="csr") if len(parts) > 1 else part
                parts, rows = [], 0
    if parts:
        yield sparse.vstack(parts, format="csr")
    elif width is not None and rows == 0:
        yield sparse.csr_array((0, width), dtype=np.float32)


class BlockWriter:
    """Appends blocks to an index's arrays."""

    def __init__(self, folder: Path, weights: Weights):
        self.integer = weights != "float"
        self.files = {name: storage.Appender(folder / f"{name}.npy", dtype) for name, dtype in storage.array_types(weights).items()}
        self.terms = 0
        self.term_maxima = np.zeros(0, np.int32)
        if self.integer:
            self.files["column_pointers"].append(np.zeros(1))
        self._end_block()

    def write(self, rows: sparse.csr_array) -> None:
        """Add the next block: [at most 65,536 documents, terms], as `weights.impacts` gives it."""
        self.terms = rows.shape[1]
        if rows.shape[0] == 0:
            return
        columns = rows.tocsc()
        lengths = np.diff(columns.indptr)
        directory = np.zeros((self.terms + 1, 3), np.int64)
        directory[:, 2] = NONE
        in_list = np.ones(columns.nnz, bool)
        if self.integer:
            frequent = frequent_terms(lengths, rows.shape[0])
            directory[frequent, 2] = np.arange(len(frequent))
            in_list = np.repeat(directory[:-1, 2] == NONE, lengths)
            self._write_overflow(columns, lengths, directory)
            self._write_frequent(columns[:, frequent], -(-rows.shape[0] // GROUP))
            lengths = np.where(directory[:-1, 2] == NONE, lengths, 0)
        directory[1:, 0] = np.cumsum(lengths)
        if directory[-1, :2].max() > NONE:
            raise UserError("a block of 65,536 documents holds more than 4,294,967,295 weights", mend="keep fewer terms a document")
        self.files["list_documents"].append(columns.indices[in_list])
        values = columns.data[in_list]
        self.files["list_impacts" if self.integer else "list_weights"].append(np.minimum(values, 255) if self.integer else values)
        self.files["directory"].append(directory)
        self._end_block()

    def _write_overflow(self, columns: sparse.csc_array, lengths: np.ndarray, directory: np.ndarray) -> None:
        """The part above 255 of each impact, and the largest impact of each term."""
        above = np.flatnonzero(columns.data > 255)
        terms = np.searchsorted(columns.indptr, above, side="right") - 1
        directory[1:, 1] = np.cumsum(np.bincount(terms, minlength=self.terms))
        self.files["overflow_documents"].append(columns.indices[above])
        self.files["overflow_impacts"].append(columns.data[above] - 255)
        maxima = np.zeros(self.terms, np.int32)
        used = np.flatnonzero(lengths)
        if len(used):
            maxima[used] = np.maximum.reduceat(columns.data, columns.indptr[used])
        self.term_maxima = maxima if len(self.term_maxima) == 0 else np.maximum(self.term_maxima, maxima)

    def _write_frequent(self, columns: sparse.csc_array, groups: int) -> None:
        """Bitmaps, packed impacts and group maxima of the frequent terms (columns of this matrix)."""
        terms = columns.shape[1]
        values = np.minimum(columns.data, 255).astype(np.uint8)
        dense = np.zeros((terms, groups * GROUP), np.uint8)
        dense[np.repeat(np.arange(terms), np.diff(columns.indptr)), columns.indices] = values
        by_group = dense.reshape(terms, groups, GROUP)
        counts = (by_group > 0).sum(axis=2, dtype=np.int64)
        self.files["bitmaps"].append(np.packbits(by_group > 0, axis=2, bitorder="little").view("<u8"))
        self.files["offsets"].append(np.cumsum(counts, axis=1) - counts)
        self.files["group_maxima"].append(by_group.max(axis=2))
        self.files["frequent_impacts"].append(values)
        self.files["column_pointers"].append(self.files["frequent_impacts"].length - len(values) + columns.indptr[1:].astype(np.int64))

    def _end_block(self) -> None:
        overflow, columns = (self.files["overflow_documents"].length, self.files["column_pointers"].length - 1) if self.integer else (0, 0)
        self.files["block_table"].append(np.array([self.files["list_documents"].length, overflow, columns]))

    def close(self) -> int:
        """Finish the files; returns the number of terms."""
        if self.integer:
            self.files["frequent_impacts"].append(np.zeros(PADDING))
            self.files["term_maxima"].append(self.term_maxima if len(self.term_maxima) else np.zeros(self.terms))
        for file in self.files.values():
            file.close()
        return self.terms


def frequent_terms(document_counts: np.ndarray, documents: int) -> np.ndarray:
    """Ascending terms that are in enough of a block's documents."""
    return np.flatnonzero(document_counts >= max(GROUP, FREQUENT_SHARE * documents))
