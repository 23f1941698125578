"""A flat array on disk that grows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.lib import format as npy

HEADER = 128  # bytes of a .npy header of one dimension; numpy pads it so that a longer shape fits into the same bytes


class FlatFile:
    """A one-dimensional .npy file written piece by piece, its length unknown until it is finished."""

    def __init__(self, path: Path, dtype: type):
        self.path, self.dtype, self.length, self.file = path, np.dtype(dtype), 0, None

    def held(self) -> int:
        """Whole values that are in the file now."""
        return max(0, self.path.stat().st_size - HEADER) // self.dtype.itemsize if self.path.exists() else 0

    def open(self, length: int) -> None:
        """Open for appending after the first `length` values, which must be there."""
        self.file, self.length = open(self.path, "r+b" if length else "w+b"), length  # noqa: SIM115 (closed by `close`)
        self.header()
        self.file.truncate(HEADER + length * self.dtype.itemsize)
        self.file.seek(0, 2)

    def header(self) -> None:
        """Write the header over the old one."""
        self.file.seek(0)
        npy.write_array_header_1_0(self.file, {"descr": npy.dtype_to_descr(self.dtype), "fortran_order": False, "shape": (self.length,)})

    def append(self, values: np.ndarray) -> None:
        """Add values at the end."""
        self.file.write(values.astype(self.dtype, copy=False).tobytes())
        self.length += len(values)

    def flush(self) -> None:
        """Hand everything to the operating system, which keeps it when this process is killed."""
        self.file.flush()

    def finish(self) -> None:
        """State the final length."""
        self.header()
        self.file.flush()

    def close(self) -> None:
        """Close the file if it is open."""
        if self.file is not None:
            self.file.close()
