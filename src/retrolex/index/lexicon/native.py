"""The C++ kernel, called through ctypes, which releases the interpreter's lock while a search runs."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from retrolex.errors import UserError
from retrolex.progress import say

KERNEL_VARIABLE = "RETROLEX_KERNEL"
NUMPY = "numpy"  # the fallback, which is always there

ARRAYS = (
    *("block_table", "directory", "list_documents", "list_impacts", "list_weights", "overflow_documents", "overflow_impacts"),
    *("column_pointers", "bitmaps", "offsets", "group_maxima", "frequent_impacts"),
)


class View(ctypes.Structure):
    """native/view.h, field by field."""

    _fields_ = [(name, ctypes.c_int64) for name in ("documents", "terms", "blocks", "frequent_bytes")] + [(name, ctypes.c_void_p) for name in ARRAYS]


@cache
def library() -> ctypes.CDLL | None:
    """The compiled kernel beside this module, or None (said once) when the installation had no compiler."""
    for path in sorted(Path(__file__).parent.glob("_kernel*")):
        if path.suffix not in (".so", ".pyd", ".dll", ".dylib"):
            continue
        try:
            found = ctypes.CDLL(str(path))
            found.retrolex_view_bytes.restype = ctypes.c_int64
            found.retrolex_kernel_name.restype = ctypes.c_char_p
            found.retrolex_rescore.restype = None  # not in a library compiled from an older source, which is refused so
            if found.retrolex_view_bytes() == ctypes.sizeof(View):
                return found
        except (OSError, AttributeError):
            continue
    say(
        "The lexicon index's compiled kernel is not installed: searching with numpy, to the same results but several times slower. "
        "To get it, install a C++ compiler (Debian and Ubuntu: apt install g++; macOS: xcode-select --install) and install retrolex again."
    )
    return None


@cache
def available() -> tuple[str, ...]:
    """Kernels that run on this machine, fastest first; the last is the numpy fallback."""
    names = []
    found = library()
    while found is not None and (name := found.retrolex_kernel_name(len(names))) is not None:
        names.append(name.decode())
    return (*names, NUMPY)


def choose(kernel: str | None) -> str:
    """The kernel asked for (by argument, else by the environment variable RETROLEX_KERNEL), or the fastest one.

    Raises:
        UserError: it does not run on this machine.
    """
    wanted = kernel or os.environ.get(KERNEL_VARIABLE)
    if not wanted:
        return available()[0]
    if wanted not in available():
        raise UserError(
            f"no kernel {wanted!r} on this machine; there are: {', '.join(available())}", mend=f"name one of them, or unset {KERNEL_VARIABLE}"
        )
    return wanted


def view_of(documents: int, terms: int, blocks: int, arrays: dict[str, np.ndarray]) -> View:
    """Pointers into the arrays, which must outlive the view."""
    view = View(documents=documents, terms=terms, blocks=blocks, frequent_bytes=len(arrays.get("frequent_impacts", ())))
    for name in ARRAYS:
        if name in arrays:
            setattr(view, name, arrays[name].ctypes.data)
    return view


def search(view: View, kernel: str, pointers: np.ndarray, terms: np.ndarray, weights: np.ndarray, begin: int, end: int, k: int) -> list:
    """Search the queries [begin, end).

    Args:
        view: the index.
        kernel: a compiled one; float weights have but one.
        pointers: int64 [queries + 1], where each query's terms start.
        terms: int32, ascending within a query.
        weights: int32, or float32 for an index of float weights.
        begin: first query.
        end: one past the last query.
        k: documents a query.
    """
    rows = end - begin
    positions, counts = np.empty((rows, k), np.int64), np.empty(rows, np.int64)
    scores = np.empty((rows, k), np.int32 if weights.dtype == np.int32 else np.float64)
    query = [ctypes.c_void_p(array.ctypes.data) for array in (pointers, terms, weights)]
    bounds = [ctypes.c_int64(number) for number in (begin, end, k)]
    results = [ctypes.c_void_p(array.ctypes.data) for array in (positions, scores, counts)]
    if scores.dtype == np.int32:
        status = library().retrolex_search(ctypes.byref(view), kernel.encode(), *query, *bounds, *results)
    else:
        status = library().retrolex_search_float(ctypes.byref(view), *query, *bounds, *results)
    if status != 0:
        raise MemoryError("the lexicon index's kernel ran out of memory") if status == -2 else RuntimeError(f"kernel {kernel} does not run here")
    wide = scores.astype(np.int64, copy=False) if scores.dtype == np.int32 else scores
    return [(positions[row, :count], wide[row, :count]) for row, count in enumerate(counts.tolist())]


def rescore(forward: Sequence[np.ndarray], weights: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """Exact scores (int64) of a few documents.

    Args:
        forward: pointers (int64), terms (uint32) and impacts (uint16) of all documents, contiguous.
        weights: int64 [terms], the query's weight of every term.
        documents: int64, positions.
    """
    scores = np.empty(len(documents), np.int64)
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (*forward, weights, documents, scores)]
    library().retrolex_rescore(*arrays[:4], ctypes.c_int64(len(weights)), arrays[4], ctypes.c_int64(len(documents)), arrays[5])
    return scores
