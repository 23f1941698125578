"""The round-trip filter: a pseudo-query is worth training on if some retriever finds its document again (Alberti et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.pools import Search

REASON = "no retriever finds the document again"


def found_again(pair: Pair, searches: Mapping[str, Search], top: int, ids: Sequence[str], originals: np.ndarray) -> str | None:
    """The name of the first retriever that ranks the pair's document, or a copy of it, among its `top` best; None where none does.

    Args:
        searches: name -> query texts and depth to ranked positions, asked in this order.
        ids, originals: document ids, and positions of the first document with the same text.
    """
    for name, search in searches.items():
        positions, _ = search([pair.query], top)[0]
        if any(ids[originals[position]] == pair.original for position in positions[:top].tolist()):
            return name
    return None
