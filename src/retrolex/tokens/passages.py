"""Which passage belongs to which document: ``passages.npy``, beside vectors and indexes of passages."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from retrolex.errors import UserError

FILE = "passages.npy"


class Passages(NamedTuple):
    """Passages in the order of their documents.

    Attributes:
        document: position of each passage's document in the collection, ascending, int64 [n].
        start, stop: the passage's tokens within its document, int64 [n].
        documents: of the collection; each has at least one passage.
    """

    document: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    documents: int

    @property
    def first(self) -> np.ndarray:
        """Each document's first passage, and after the last document the number of passages; int64 [documents + 1]."""
        return np.searchsorted(self.document, np.arange(self.documents + 1))

    def ids(self, documents: list[str]) -> list[str]:
        """A passage's id: its document's, ``#``, and its number there from 0. All differ if the documents' do."""
        numbers = np.arange(len(self.document)) - self.first[self.document]
        return [f"{documents[row]}#{number}" for row, number in zip(self.document.tolist(), numbers.tolist(), strict=True)]

    def save(self, folder: Path) -> None:
        """Write ``passages.npy``: int64 [n, 3] of document, start, stop."""
        np.save(Path(folder) / FILE, np.stack(self[:3], axis=1))

    @classmethod
    def open(cls, folder: Path) -> Passages:
        """Read what `save` wrote.

        Raises:
            UserError: the file is missing or damaged.
        """
        path = Path(folder) / FILE
        try:
            table = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise UserError(f"no map from passages to documents: {error}", where=path, mend="build it again") from None
        if table.ndim != 2 or table.shape[1] != 3 or table.dtype != np.int64 or not np.isin(np.diff(table[:, 0], prepend=-1), (0, 1)).all():
            raise UserError("a damaged map from passages to documents", where=path, mend="build it again")
        return cls(table[:, 0], table[:, 1], table[:, 2], int(table[-1, 0]) + 1 if len(table) else 0)
