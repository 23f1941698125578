"""From the arrays back to documents: what merging and exporting read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from retrolex.index.lexicon.storage import BLOCK, GROUP, NONE

Postings = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Places in the block, terms, and impacts or weights."""


def impact_blocks(documents: int, terms: int, arrays: dict[str, np.ndarray]) -> Iterator[sparse.csr_array]:
    """Rows [at most 65,536 documents, terms] of impacts (int32) or weights (float32), block by block, rows sorted by term."""
    table = arrays["block_table"].reshape(-1, 3)
    for block in range(len(table) - 1):
        rows = min(BLOCK, documents - block * BLOCK)
        directory = arrays["directory"].reshape(-1, terms + 1, 3)[block].astype(np.int64)
        if "list_weights" in arrays:
            parts = [_lists(directory[:, 0], table[block : block + 2, 0], arrays["list_documents"], arrays["list_weights"])]
        else:
            parts = [
                _lists(directory[:, 0], table[block : block + 2, 0], arrays["list_documents"], arrays["list_impacts"]),
                _lists(directory[:, 1], table[block : block + 2, 1], arrays["overflow_documents"], arrays["overflow_impacts"]),
                _columns(directory[:-1, 2], table[block : block + 2, 2], -(-rows // GROUP), arrays),
            ]
        places, columns, values = (np.concatenate(arrays_of_parts) for arrays_of_parts in zip(*parts, strict=True))
        values = values if values.dtype == np.float32 else values.astype(np.int32)
        yield sparse.coo_array((values, (places.astype(np.int32), columns.astype(np.int32))), shape=(rows, terms)).tocsr()  # adds overflows


def _lists(pointers: np.ndarray, span: np.ndarray, documents: np.ndarray, values: np.ndarray) -> Postings:
    begin, end = span
    return documents[begin:end], np.repeat(np.arange(len(pointers) - 1), np.diff(pointers)), values[begin:end]


def _columns(column_of_term: np.ndarray, span: np.ndarray, groups: int, arrays: dict[str, np.ndarray]) -> Postings:
    begin, end = span
    terms = np.flatnonzero(column_of_term != NONE)
    terms = terms[np.argsort(column_of_term[terms], kind="stable")]
    cell = int(begin) * (BLOCK // GROUP)
    bitmaps = np.ascontiguousarray(arrays["bitmaps"][cell : cell + len(terms) * groups])
    holders = np.unpackbits(bitmaps.view(np.uint8), bitorder="little").reshape(len(terms), groups * GROUP)
    column, places = np.nonzero(holders)
    first, last = arrays["column_pointers"][begin], arrays["column_pointers"][end]
    return places, terms[column], arrays["frequent_impacts"][first:last]
