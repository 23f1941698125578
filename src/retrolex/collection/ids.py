"""Ids that were met, in 8 bytes each: enough to find repeated ones and to look some up, whatever the collection's size."""

from __future__ import annotations

from array import array
from functools import cached_property

import numpy as np


class Ids:
    """Counts ids, tells which ones may have come twice, and whether an id is among them.

    Only 64-bit hashes are kept. What `repeated` names is therefore a suspicion, to be confirmed by reading again; `in` is
    wrong for an absent id with probability n / 2**64 (5e-13 for nine million ids).
    """

    def __init__(self) -> None:
        self._hashes = array("q")

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, id: str) -> None:
        """Count one more id."""
        self._hashes.append(hash(id))
        self.__dict__.pop("_sorted", None)

    @cached_property
    def _sorted(self) -> np.ndarray:
        return np.sort(np.array(self._hashes, dtype=np.int64))  # a copy: a view would forbid adding more

    def __contains__(self, id: str) -> bool:
        place = np.searchsorted(self._sorted, hash(id))
        return bool(place < len(self._sorted) and self._sorted[place] == hash(id))

    def repeated(self) -> set[int]:
        """The hashes that occur more than once."""
        return set(self._sorted[1:][self._sorted[1:] == self._sorted[:-1]].tolist())
