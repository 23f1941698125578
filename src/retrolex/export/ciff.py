"""The common index file format (Lin et al. 2020, "Supporting Interoperability Between Open-Source Search Engines with the Common
Index File Format"): one file of a header, a postings list a term, and a record a document, that PISA, Lucene, BMP and others read.

Lists need the index turned over: each block of documents is turned by itself into a temporary folder, then every term's
list is put together from the blocks, so that memory stays flat.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from retrolex import __version__
from retrolex.export.form import Form, Vector, has_space, renamed
from retrolex.export.json_vectors import lexicon_only, repeated, scale_of, write_topics
from retrolex.export.protobuf import delimited, field, varint
from retrolex.export.queries import collection_queries, need_lexicon
from retrolex.export.source import Source
from retrolex.export.vectors import Vectors
from retrolex.progress import track

FILE, VERSION = "index.ciff", 1
PARTS = ("indptr", "indices", "data")
Columns = tuple[np.ndarray, np.ndarray, np.ndarray]
"""indptr, indices and data of a CSC matrix."""

CIFF = """# Common index file format

`index.ciff` holds {documents:,} documents and {postings:,} postings of {lists:,} terms; what stands for term frequencies are learned weights,
{scale:g} times what the model emits. Readers that want 8 bits a weight, such as BMP, take an export with `--bits 8`.
"""
PISA = """# For PISA

`index.ciff` holds {documents:,} documents and {postings:,} postings of {lists:,} terms, quantised: {scale:g} times what the model emits.
`queries.txt` repeats each term as often as its weight says.

    ciff2pisa --ciff-file index.ciff --output pisa
    create_wand_data --collection pisa --output pisa.wand --block-size 64 --quantize --scorer quantized
    compress_inverted_index --collection pisa --output pisa.index --encoding block_simdbp
    evaluate_queries --index pisa.index --wand pisa.wand --documents pisa.documents --terms pisa.terms --encoding block_simdbp \\
        --algorithm block_max_wand --scorer quantized --weighted --queries queries.txt -k 1000
"""


def export_ciff(source: Source, folder: Path, bits: int | None = None) -> dict[str, Any]:
    """Write ``index.ciff``; returns counts for the manifest.

    Raises:
        UserError: the vectors are dense, or there are no documents.
    """
    counts = write_ciff(lexicon_only(source, "CIFF"), folder / FILE, bits)
    (folder / "README.md").write_text(CIFF.format(**counts), encoding="utf-8")
    return counts


def export_pisa(source: Source, folder: Path, bits: int | None = None) -> dict[str, Any]:
    """Write ``index.ciff`` and ``queries.txt``; returns counts for the manifest.

    Raises:
        UserError: the vectors are dense, or there are no documents.
    """
    vectors = lexicon_only(source, "PISA")
    counts = write_ciff(vectors, folder / FILE, bits)
    names = word_names(vectors.form)
    counts |= write_topics(folder / "queries.txt", ":", vectors.form, names, collection_queries(source, vectors))
    (folder / "README.md").write_text(PISA.format(**counts), encoding="utf-8")
    return counts


def pisa_query(form: Form, vector: Vector, k: int = 10) -> str:
    """Every term as often as its weight says."""
    need_lexicon(form, "PISA")
    return repeated(form, word_names(form), vector)


def word_names(form: Form) -> list[str]:
    """Terms as words of a text that is split at white space."""
    return renamed(form.terms, has_space)


def write_ciff(vectors: Vectors, path: Path, bits: int | None = None) -> dict[str, Any]:
    """Write the file; returns counts for a manifest.

    Args:
        vectors: the documents.
        path: the file.
        bits: weights are made smaller, if need be, so that the largest fits into so many bits; BMP takes 8.
    """
    multiplier = vectors.multiplier(2**bits - 1 if bits else None)
    names = word_names(vectors.form)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch, open(path, "wb") as file:
        blocks, lengths = turned(vectors, multiplier, Path(scratch))
        frequencies = sum((np.diff(block[0]) for block in blocks), np.zeros(len(names), np.int64))
        filled = sorted(np.flatnonzero(frequencies).tolist(), key=names.__getitem__)
        write_header(file, len(filled), len(vectors), int(lengths.sum()))
        for column in track(filled, "Writing postings"):
            file.write(delimited(postings_list(names[column], column, blocks)))
        for position, id in enumerate(vectors.collection.ids):
            file.write(delimited(field(1, position) + field(2, id) + field(3, int(lengths[position]))))
        del blocks  # mapped files cannot be removed everywhere
    empty = int((lengths == 0).sum())
    counts = {"documents": len(vectors), "without terms": empty, "lists": len(filled), "postings": int(frequencies.sum())}
    return counts | {"scale": scale_of(vectors.form, multiplier)}


def turned(vectors: Vectors, multiplier: float, scratch: Path) -> tuple[list[Columns], np.ndarray]:
    """Each block by columns, memory-mapped, and every document's length: the sum of its weights, int64 [documents]."""
    blocks, lengths, start = [], [], 0
    for number, block in enumerate(vectors.blocks()):
        weights = np.rint(block.data.astype(np.float64) * multiplier).astype(np.int64)
        rows = sparse.csr_array((weights, block.indices, block.indptr), shape=block.shape)
        rows.eliminate_zeros()
        lengths.append(np.asarray(rows.sum(axis=1), np.int64).reshape(-1))
        columns = rows.tocsc()
        columns.indices = columns.indices.astype(np.int64) + start
        for part in PARTS:
            np.save(scratch / f"{number}.{part}.npy", getattr(columns, part), allow_pickle=False)
        blocks.append(tuple(np.load(scratch / f"{number}.{part}.npy", mmap_mode="r") for part in PARTS))
        start += block.shape[0]
    if start != len(vectors):
        raise vectors.uneven(f"{start:,}")
    return blocks, np.concatenate(lengths)


def write_header(file: BinaryIO, lists: int, documents: int, length: int) -> None:
    """The first message."""
    average = length / documents
    numbers = (VERSION, lists, documents, lists, documents, length)
    message = b"".join(field(number, value) for number, value in enumerate(numbers, 1))
    file.write(delimited(message + field(7, float(average)) + field(8, f"retrolex {__version__}: learned term weights")))


def postings_list(term: str, column: int, blocks: list[Columns]) -> bytes:
    """A term's message: documents as differences, weights as frequencies."""
    spans = [(block, slice(int(block[0][column]), int(block[0][column + 1]))) for block in blocks]
    documents = np.concatenate([block[1][span] for block, span in spans])
    weights = np.concatenate([block[2][span] for block, span in spans])
    gaps = np.diff(documents, prepend=0)
    postings = b"".join(field(4, message) for message in posting_messages(gaps.tolist(), weights.tolist()))
    return field(1, term) + field(2, len(gaps)) + field(3, int(weights.sum())) + postings


def posting_messages(gaps: list[int], weights: list[int]) -> Iterator[bytes]:
    """One message a posting: two small fields, whose tags are single bytes."""
    for gap, weight in zip(gaps, weights, strict=True):
        yield b"\x08" + varint(gap) + b"\x10" + varint(weight)
