"""How long the documents are in tokens, and how many are longer than a model reads."""

from __future__ import annotations

from array import array

import numpy as np

from retrolex.collection.doctor.findings import Finding, Tally
from retrolex.collection.doctor.ledger import Ledger
from retrolex.collection.doctor.token_counts import TokenCounter
from retrolex.collection.documents import Document, Judgment, Query
from retrolex.collection.readers.records import Place

BATCH, BATCH_CHARACTERS = 512, 1 << 20
MANY = 0.1  # the share of truncated documents from which on it is a warning


class Lengths:
    """Counts the tokens of every document, title included.

    Args:
        counter: the tokenizer.
        length: longest input in tokens, specials included; what is longer is cut by a model.
    """

    def __init__(self, counter: TokenCounter, length: int):
        self.counter, self.length = counter, length
        self.cut = Tally()
        self._counts = array("Q")
        self._waiting: list[tuple[Place, str]] = []
        self._characters = 0

    def see(self, item: Document | Query | Judgment, place: Place) -> None:
        """One more row."""
        if isinstance(item, Document):
            text = item.full.encode("utf-8", "replace").decode()  # a half surrogate pair is nothing a tokenizer takes
            self._waiting.append((place, text))
            self._characters += len(text)
            if len(self._waiting) == BATCH or self._characters > BATCH_CHARACTERS:
                self._count()

    def _count(self) -> None:
        for (place, _), tokens in zip(self._waiting, self.counter.count([text for _, text in self._waiting]), strict=True):
            tokens += self.counter.specials
            self._counts.append(tokens)
            if tokens > self.length:
                self.cut.add(place, f"{tokens:,} {self.counter.unit}")
        self._waiting, self._characters = [], 0

    def summary(self) -> dict[str, int | float | str]:
        """Least, median, 95th percentile, most and sum of the documents' tokens, specials included, and the share that is cut."""
        self._count()
        counts = np.array(self._counts, dtype=np.int64)
        if not len(counts):
            counts = np.zeros(1, dtype=np.int64)
        low, middle, high, most = (int(value) for value in np.percentile(counts, (0, 50, 95, 100), method="lower"))
        return {
            "tokenizer": self.counter.name,
            "least": low,
            "median": middle,
            "95%": high,
            "most": most,
            "total": int(counts.sum()),
            "length": self.length,
            "truncated": self.cut.count / len(counts),
        }

    def findings(self, ledger: Ledger) -> list[Finding]:
        """Documents that are cut."""
        share = self.summary()["truncated"]
        mend = "what lies beyond is not seen: --set dense.document_length=256, as far as the model allows, or --set dense.passages.overlap=32"
        name = f"documents over {self.length:,} {self.counter.unit} ({share:.0%})"
        return self.cut.finding(name, "warning" if share >= MANY else "note", mend)
