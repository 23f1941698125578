"""One retriever each, ready for questions: text in, run out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from retrolex.encoding import Encoder
from retrolex.index.base import Run, to_run
from retrolex.index.bm25 import BM25Index
from retrolex.index.dense import DenseIndex
from retrolex.index.lexicon import LexiconIndex

LEXICON = "lexicon"  # the lexicon index's own folder within its stage's


class System(Protocol):
    """What can be searched: by the text of queries."""

    @property
    def bytes(self) -> int:
        """Size of the index on disk."""
        ...

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """The best `depth` documents of each query, given as id -> text."""
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


@dataclass
class ModelSystem:
    """An encoder in front of a dense or a lexicon index.

    Attributes:
        representation: ``dense`` or ``lexicon``.
        model: folder of the encoder.
        folder: of the index.
    """

    representation: str
    model: Path
    folder: Path

    @cached_property
    def encoder(self) -> Encoder:
        """Loaded at first use."""
        return Encoder(self.model, self.representation)

    @cached_property
    def index(self) -> Any:
        """Opened at first use."""
        return DenseIndex.open(self.folder) if self.representation == "dense" else LexiconIndex.open(self.folder / LEXICON)

    @property
    def bytes(self) -> int:
        """Size of the index on disk."""
        return self.index.bytes

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """See `System`."""
        return to_run(queries, self.index.search(self.encoder.encode(list(queries.values()), "query"), depth), self.index.ids)


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
