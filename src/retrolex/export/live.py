"""Engines that run: loading one, and searching one with our encoder in front; the answers are those of the embedded index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from retrolex.collection import Document
from retrolex.encoding import Encoder
from retrolex.encoding.two_part import open_encoder
from retrolex.errors import UserError
from retrolex.export.form import Form
from retrolex.export.source import Source, open_source
from retrolex.export.vectors import open_vectors
from retrolex.index.base import Run
from retrolex.index.lexicon import LexiconIndex
from retrolex.search.searcher import Searcher
from retrolex.search.systems import LEXICON, Best, Passage

BACKENDS = {name: f"retrolex.export.engines.{name}" for name in ("opensearch", "elasticsearch", "qdrant", "pgvector")}


def backend(name: str) -> Any:
    """The module of an engine, with its `load` and `search`.

    Raises:
        UserError: no such engine.
    """
    if name not in BACKENDS:
        raise UserError(f"no engine {name!r} can be loaded or searched from here", mend=f"choose one of: {', '.join(BACKENDS)}")
    return import_module(BACKENDS[name])


def load(name: str, folder: Path, url: str, system: str | None = None) -> int:
    """Put a run's documents and vectors into an engine that runs. Returns the number of documents.

    Args:
        name: one of `BACKENDS`.
        folder: of the run.
        url: ``http://host:port/index``, or ``postgresql://host/database#table``.
        system: which retriever.

    Raises:
        UserError: no such engine or run, no server there, or what the address names is there already.
    """
    return backend(name).load(open_vectors(open_source(folder, system)), url)


def open_backend(folder: Path, name: str, url: str, system: str | None = None) -> tuple[Searcher, str]:
    """A run's searcher that asks an engine in place of its own index, and the name of the retriever that does.

    Args:
        folder, name, url, system: see `load`.

    Raises:
        UserError: no such engine or run, or a run with several models where none is named.
    """
    source, searcher = open_source(folder, system), Searcher.open(folder)
    representation = source.spec.representation
    searcher.opened[representation] = EngineSystem(backend(name), url, source)
    return searcher, representation


@dataclass
class EngineSystem:
    """A `System` whose index is an engine.

    Attributes:
        engine: its module.
        url: where it runs.
        source: the retriever that was loaded into it.
    """

    engine: Any
    url: str
    source: Source

    @cached_property
    def encoder(self) -> Encoder:
        """Loaded at first use."""
        return open_encoder(self.source.model, self.source.spec.representation)

    @cached_property
    def form(self) -> Form:
        """Of the vectors in the engine."""
        if self.source.index is not None and self.source.spec.representation == "lexicon":
            return Form.of(self.encoder, LexiconIndex.open(self.source.index / LEXICON).weights)
        return Form.of(self.encoder)

    @property
    def bytes(self) -> int:
        """On this machine's disk: nothing."""
        return 0

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """See `System`."""
        vectors = self.form.queries(list(queries.values()), self.encoder)
        return dict(zip(queries, self.engine.search(self.url, self.form, vectors, depth), strict=True))

    def find(self, queries: Mapping[str, str], depth: int) -> tuple[Run, Best]:
        """See `System`."""
        return self.search(queries, depth), {query: {} for query in queries}

    def excerpt(self, document: Document, passage: Passage) -> str:
        """See `System`."""
        return document.text
