"""One retriever each, ready for questions: text in, run out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from retrolex.collection import Document
from retrolex.encoding import Encoder
from retrolex.encoding.two_part import TWO_PART, open_encoder
from retrolex.index.base import Run, to_run
from retrolex.index.bm25 import BM25Index
from retrolex.index.dense import DenseIndex
from retrolex.index.lexicon import LexiconIndex
from retrolex.index.passages import PASSAGES, PassageIndex
from retrolex.index.two_part import TwoPartIndex

LEXICON = "lexicon"  # the lexicon index's own folder within its stage's


class Passage(NamedTuple):
    """A part of a document.

    Attributes:
        number: among the document's passages, from 0.
        start, stop: its tokens.
    """

    number: int
    start: int
    stop: int


Best = dict[str, dict[str, Passage]]
"""Query id -> document id -> the passage for which the document was found; without entries where whole documents are indexed."""


class System(Protocol):
    """What can be searched: by the text of queries."""

    @property
    def bytes(self) -> int:
        """Size of the index on disk."""
        ...

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """The best `depth` documents of each query, given as id -> text."""
        ...

    def find(self, queries: Mapping[str, str], depth: int) -> tuple[Run, Best]:
        """`search`, and which passages decided."""
        ...

    def excerpt(self, document: Document, passage: Passage) -> str:
        """What of a document's text is a passage that `find` named."""
        ...


@dataclass
class BM25System:
    """BM25 over words."""

    folder: Path

    @cached_property
    def index(self) -> BM25Index:
        """Opened at first use."""
        return BM25Index.open(self.folder)

    @property
    def bytes(self) -> int:
        """Size of the index on disk."""
        return self.index.bytes

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """See `System`."""
        return to_run(queries, self.index.search(list(queries.values()), depth), self.index.ids)

    def find(self, queries: Mapping[str, str], depth: int) -> tuple[Run, Best]:
        """See `System`."""
        return self.search(queries, depth), {query: {} for query in queries}

    def excerpt(self, document: Document, passage: Passage) -> str:
        """See `System`."""
        return document.text


@dataclass
class ModelSystem:
    """An encoder in front of the index of its representation.

    Attributes:
        representation: ``dense``, ``lexicon`` or ``dupmae``.
        model: folder of the encoder.
        folder: of the index.
    """

    representation: str
    model: Path
    folder: Path

    @cached_property
    def encoder(self) -> Encoder:
        """Loaded at first use."""
        return open_encoder(self.model, self.representation)

    @cached_property
    def index(self) -> Any:
        """Opened at first use."""
        kinds = {"dense": DenseIndex.open, TWO_PART: TwoPartIndex.open, "lexicon": lambda folder: LexiconIndex.open(folder / LEXICON)}
        index = kinds[self.representation](self.folder)
        return PassageIndex.open(self.folder / PASSAGES, index) if (self.folder / PASSAGES).exists() else index

    @property
    def bytes(self) -> int:
        """Size of the index on disk."""
        return self.index.bytes

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """See `System`."""
        return to_run(queries, self.index.search(self.encode(queries), depth), self.index.ids)

    def encode(self, queries: Mapping[str, str]) -> Any:
        """The queries' vectors."""
        return self.encoder.encode(list(queries.values()), "query")

    def find(self, queries: Mapping[str, str], depth: int) -> tuple[Run, Best]:
        """See `System`."""
        if not isinstance(self.index, PassageIndex):
            return self.search(queries, depth), {query: {} for query in queries}
        found, passages, first = self.index.find(self.encode(queries), depth), self.index.passages, self.index.first
        best: Best = {}
        for query, (documents, _, chosen) in zip(queries, found, strict=True):
            rows = zip(documents.tolist(), chosen.tolist(), (chosen - first[documents]).tolist(), strict=True)
            best[query] = {self.index.ids[row]: Passage(number, int(passages.start[at]), int(passages.stop[at])) for row, at, number in rows}
        return to_run(queries, [(documents, scores) for documents, scores, _ in found], self.index.ids), best

    def excerpt(self, document: Document, passage: Passage) -> str:
        """See `System`."""
        text = document.joined(self.index.separator)
        body = len(text) - len(document.text.strip())  # the title is shown by itself: only a passage of nothing else begins in it
        start, stop = self.encoder.characters(text, passage.start, passage.stop)
        return text[max(start, body) if stop > body else start : stop]


def open_system(description: Mapping[str, str], base: Path) -> System:
    """A system from its plain description, paths relative to `base`; the reverse of `describe`."""
    if description["kind"] == "bm25":
        return BM25System(base / description["index"])
    return ModelSystem(description["kind"], base / description["model"], base / description["index"])


def describe(system: BM25System | ModelSystem, base: Path) -> dict[str, str]:
    """Plain values that `open_system` understands."""
    index = system.folder.relative_to(base).as_posix()
    if isinstance(system, BM25System):
        return {"kind": "bm25", "index": index}
    return {"kind": system.representation, "model": system.model.relative_to(base).as_posix(), "index": index}
