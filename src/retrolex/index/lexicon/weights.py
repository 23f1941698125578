"""From a model's term weights to what the index stores and sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy import sparse

from retrolex.errors import UserError

Weights = Literal["floor", "round", "float"]
"""`floor`: floor(100 v), as the LexMAE paper states (appendix D); `round`: rint(100 v), as its published code does; `float`: v itself."""

MODES = ("floor", "round", "float")
LARGEST_IMPACT = 65_535

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""indptr, indices and data of a matrix in CSR form."""


def impacts(vectors: sparse.csr_array, weights: Weights, name: Callable[[int], str]) -> Rows:
    """Weights as the index keeps them: rows sorted by term, no zeros, data int32 (`floor`, `round`) or float32 (`float`).

    100 v is taken in float32 arithmetic, the type in which models emit weights: it is what ``np.floor(100 * v)`` gives.

    Args:
        vectors: [rows, terms] weights, none negative. Entries that share row and term are added.
        weights: the rule.
        name: says which document or query a row is, for errors.

    Raises:
        UserError: a weight is negative, not a number, infinite, or above 655.35 where it has to become an impact.
    """
    if getattr(vectors, "format", None) != "csr":
        vectors = sparse.csr_array(vectors)
    if not vectors.has_canonical_format:
        vectors = vectors.copy()
        vectors.sum_duplicates()
    given = np.asarray(vectors.data, dtype=np.float32)
    scaled = given if weights == "float" else (np.floor if weights == "floor" else np.rint)(np.float32(100) * given)
    largest = np.float32(np.finfo(np.float32).max if weights == "float" else LARGEST_IMPACT)
    if len(scaled) and not (given.min() >= 0 and scaled.max() <= largest):  # false for NaN as well
        _refuse(vectors, given, ~((given >= 0) & (scaled <= largest)), name)
    kept = scaled if weights == "float" else scaled.astype(np.int32)
    if kept.all():
        return vectors.indptr, vectors.indices, kept
    present = kept > 0
    before = np.concatenate([[0], np.cumsum(present)])
    return before[vectors.indptr], vectors.indices[present], kept[present]


def _refuse(vectors: sparse.csr_array, given: np.ndarray, wrong: np.ndarray, name: Callable[[int], str]) -> None:
    first = int(np.flatnonzero(wrong)[0])
    row = int(np.searchsorted(vectors.indptr, first, side="right")) - 1
    raise UserError(
        f"term {int(vectors.indices[first])} of {name(row)} has the weight {given[first]:g}; "
        f"weights run from 0 to {LARGEST_IMPACT / 100} (any finite number with weights='float')",
        mend="look at the vectors: a lexicon model emits log(1 + relu(x)), which is never negative and rarely above 4",
    )
