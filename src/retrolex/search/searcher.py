"""Questions to a finished run: every retriever asked, the answers fused, and who found what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from retrolex.collection import Collection, Document
from retrolex.errors import UserError
from retrolex.search.hybrid import Hybrid
from retrolex.search.rerank import DEPTH as RERANKED
from retrolex.search.rerank import Reranker
from retrolex.search.snippets import snippet
from retrolex.search.systems import Passage, System, open_system

SYSTEMS = "hybrid/systems.json"
DEPTH = 100  # hits of each retriever that are fused, where the run does not say


@dataclass(frozen=True)
class Answer:
    """One result.

    Attributes:
        found_by: retriever -> the document's rank in its results, from 1; those that did not find it are left out.
        passage: number of the passage, from 0, that the snippet is from, where passages are indexed.
    """

    rank: int
    id: str
    title: str
    snippet: str
    score: float
    found_by: dict[str, int]
    passage: int | None = None

    def plain(self) -> dict[str, Any]:
        """JSON-able."""
        return asdict(self)


class Searcher:
    """A run folder, opened for search.

    Args:
        folder: the run's.
        hybrid: how its retrievers are fused.
        systems: retriever -> its plain description.
        depth: hits of each retriever that are fused: as many as where the hybrid was measured, since normalised scores depend on it.
    """

    def __init__(self, folder: Path, hybrid: Hybrid, systems: Mapping[str, Mapping[str, str]], depth: int = DEPTH):
        self.folder, self.hybrid, self.described, self.depth = folder, hybrid, systems, depth
        self.opened: dict[str, System] = {}

    @classmethod
    def open(cls, folder: str | Path) -> Searcher:
        """Open a run folder.

        Raises:
            UserError: it is none, or one that has not come to its end.
        """
        path = Path(folder) / SYSTEMS
        if not path.exists():
            raise UserError("no finished run here (it has no hybrid/systems.json)", where=folder, mend="run `retrolex run` to its end first")
        stated = json.loads(path.read_text(encoding="utf-8"))
        return cls(Path(folder), Hybrid(**stated["hybrid"]), stated["systems"], stated.get("depth", DEPTH))

    @cached_property
    def collection(self) -> Collection:
        """The documents."""
        return Collection.open(self.folder / "collection")

    def system(self, name: str) -> System:
        """A retriever, opened at first use."""
        if name not in self.opened:
            self.opened[name] = open_system(self.described[name], self.folder)
        return self.opened[name]

    def search(self, query: str, k: int = 10, system: str = "hybrid", reranker: Reranker | None = None) -> list[Answer]:
        """The best `k` documents; with a reranker, of those it reads again.

        Raises:
            UserError: an empty query, or no such retriever.
        """
        if not query.strip():
            raise UserError("the query is empty", mend="type what you are looking for")
        if system != "hybrid" and system not in self.described:
            raise UserError(f"no retriever is called {system!r}", mend=f"choose one of hybrid, {', '.join(self.described)}")
        depth = max(k, self.depth)
        names = self.hybrid.systems if system == "hybrid" else [system]
        found = {name: self.system(name).find({"q": query}, depth) for name in names}
        runs = {name: run for name, (run, _) in found.items()}
        run = self.hybrid.fuse(runs) if system == "hybrid" else runs[system]
        if reranker:
            run = reranker.rerank(run, {"q": query}, lambda id: self.collection[self.collection.position(id)].full, max(k, RERANKED))
        hits = run["q"][:k]
        ranks = {name: {id: rank for rank, (id, _) in enumerate(run["q"], 1)} for name, run in runs.items()}
        answers = []
        for rank, (id, score) in enumerate(hits, 1):
            document = self.collection[self.collection.position(id)]
            found_by = {name: found[id] for name, found in ranks.items() if id in found}
            text, passage = self.shown(document, {name: found[name][1]["q"].get(id) for name in sorted(found_by, key=found_by.__getitem__)})
            answers.append(Answer(rank, id, document.title, snippet(text, query), round(float(score), 6), found_by, passage))
        return answers

    def shown(self, document: Document, passages: Mapping[str, Passage | None]) -> tuple[str, int | None]:
        """The text that a snippet is cut from, and the passage's number where it is one.

        Args:
            passages: for which each retriever found the document; the first there is, is shown.
        """
        for name, passage in passages.items():
            if passage is not None:
                return self.system(name).excerpt(document, passage), passage.number
        return document.text, None
