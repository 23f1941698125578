"""The same search in numpy, for machines where the kernel could not be compiled. Same arrays, same answers, to the last bit."""

from __future__ import annotations

import numpy as np

from retrolex.index.lexicon.storage import BLOCK, GROUP, NONE


def search(documents: int, arrays: dict[str, np.ndarray], terms: np.ndarray, weights: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The best `k` documents of one query: positions (int64) and scores (int64, or float64 with float weights)."""
    integer = "list_impacts" in arrays
    table = arrays["block_table"].reshape(-1, 3)
    directory = arrays["directory"].reshape(len(table) - 1, -1, 3) if len(table) > 1 else ()
    sums = np.zeros(documents, np.int64 if integer else np.float64)
    for block, entries in enumerate(directory):
        part = sums[block * BLOCK : (block + 1) * BLOCK]
        groups = -(-len(part) // GROUP)
        for term, weight in zip(terms.tolist(), weights.tolist(), strict=True):
            entry, following = entries[term].tolist(), entries[term + 1].tolist()
            for column, (places, values) in enumerate(_lists(integer)):
                begin, end = table[block, column] + entry[column], table[block, column] + following[column]
                part[arrays[places][begin:end]] += weight * arrays[values][begin:end].astype(sums.dtype)
            if entry[2] != NONE:
                places, values = _frequent(arrays, int(table[block, 2]), groups, entry[2])
                part[places] += weight * values.astype(sums.dtype)
    return best(sums, k)


def _lists(integer: bool) -> tuple[tuple[str, str], ...]:
    if integer:
        return (("list_documents", "list_impacts"), ("overflow_documents", "overflow_impacts"))
    return (("list_documents", "list_weights"),)


def _frequent(arrays: dict[str, np.ndarray], first_column: int, groups: int, column: int) -> tuple[np.ndarray, np.ndarray]:
    """Places in the block, and impacts, of the documents that hold a frequent term."""
    cell = first_column * (BLOCK // GROUP) + column * groups
    bitmaps = np.ascontiguousarray(arrays["bitmaps"][cell : cell + groups])
    begin, end = arrays["column_pointers"][first_column + column : first_column + column + 2]
    return np.flatnonzero(np.unpackbits(bitmaps.view(np.uint8), bitorder="little")), arrays["frequent_impacts"][begin:end]


def best(sums: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions and scores of the `k` highest sums above zero; the earlier position first among equals."""
    positions = np.flatnonzero(sums > 0)
    if len(positions) > k:
        kth = np.partition(sums[positions], -k)[-k]
        positions = positions[sums[positions] >= kth]
    positions = positions[np.argsort(-sums[positions], kind="stable")[:k]].astype(np.int64)
    return positions, sums[positions]
