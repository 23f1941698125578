"""BM25 over the collection's words: the baseline that everything else is measured against.

Words and single letters (C, R, 5, the s of 's) are counted apart. Letters say much in a short query ("vitamin d",
"c pointers") and are noise in a long one or in code, so they take no part in document lengths, are not normalised by
length, and count only in queries of at most `SHORT_QUERY` words.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.index.analysis import Analyzer, is_short
from retrolex.index.base import Hits, Named
from retrolex.index.segments import Part, SegmentedIndex

SETTINGS = "bm25.json"
SHORT_QUERY = 3


class BM25Index(Named):
    """An index of exact BM25 scores (bm25s, Lucene's variant), memory-mapped from a folder of npy and JSON files.

    The score of document d for query q is the sum over q's terms t, repeats included, of
    ``log(1 + (n - df + .5) / (df + .5)) * tf / (tf + k1 * (1 - b + b * |d| / mean |d|))``.
    """

    def __init__(self, folder: Path, ids: list[str], analyzer: Analyzer, words: Any, letters: Any):
        self.folder, self.ids = folder, ids
        self._analyzer, self._words, self._letters = analyzer, words, letters

    @classmethod
    def build(
        cls, folder: str | Path, ids: Sequence[str], texts: Iterable[str], language: str = "english", k1: float = 0.9, b: float = 0.4
    ) -> BM25Index:
        """Index `texts` (one a document, in the order of `ids`) into `folder`; the same input gives the same bytes.

        Raises:
            UserError: unknown language, or no document at all.
        """
        analyzer = Analyzer(language)
        return cls.build_from_terms(folder, ids, [analyzer.terms(text) for text in texts], analyzer, k1, b)

    @classmethod
    def build_from_terms(
        cls, folder: str | Path, ids: Sequence[str], documents: list[list[str]], analyzer: Analyzer, k1: float = 0.9, b: float = 0.4
    ) -> BM25Index:
        """The same from the documents' terms, as the analyzer gives them."""
        folder = Path(folder)
        if len(documents) != len(ids):
            raise ValueError(f"{len(ids)} ids for {len(documents)} texts")
        if not documents:
            raise UserError("BM25 needs at least one document, found none", where=folder)
        words = _matrix([[term for term in terms if not is_short(term)] for terms in documents], k1, b)
        letters = _matrix([[term for term in terms if is_short(term)] for terms in documents], k1, 0.0)
        words.save(folder / "words", show_progress=False)
        letters.save(folder / "letters", show_progress=False)
        write_json(folder / SETTINGS, {"language": analyzer.language, "k1": k1, "b": b, "ids": list(ids)})
        return cls(folder, list(ids), analyzer, words, letters)

    @classmethod
    def open(cls, folder: str | Path) -> BM25Index:
        """Open an index that `build` wrote; its arrays stay on disk until they are touched.

        Raises:
            UserError: the folder holds no BM25 index.
        """
        folder, library = Path(folder), _library()
        try:
            settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            words, letters = (library.BM25.load(folder / part, mmap=True) for part in ("words", "letters"))
        except (FileNotFoundError, NotADirectoryError):
            raise UserError("no BM25 index in this folder", where=folder, mend="run the command that builds it again") from None
        return cls(folder, settings["ids"], Analyzer(settings["language"]), words, letters)

    def search(self, queries: Sequence[str], k: int, threads: int = 1) -> list[Hits]:
        """The k best documents of each query. BM25 works in one thread, whatever `threads` says.

        Returns:
            For each query (positions int64, scores float32), best first, equal scores in document order. Documents that
            share no term with the query are never returned, so there can be fewer than k.
        """
        return [_best(self.scores(query), k) for query in queries]

    def scores(self, query: str) -> np.ndarray:
        """BM25 score of every document, float32 [documents]."""
        terms = self._analyzer.terms(query)
        words = [term for term in terms if not is_short(term)]
        scores = np.zeros(len(self), dtype=np.float32)
        if known := self._words.get_tokens_ids(words):
            scores += self._words.get_scores_from_ids(known)
        if len(words) <= SHORT_QUERY and (known := self._letters.get_tokens_ids([term for term in terms if is_short(term)])):
            scores += self._letters.get_scores_from_ids(known)
        return scores

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def bytes(self) -> int:
        """Size on disk."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())


class SegmentedBM25Index(SegmentedIndex):
    """A BM25 index that takes and loses documents: see `SegmentedIndex`. Contents are texts; `option` is the language.

    A document's score depends on all the others (how many hold a term, how long they are), so a change counts them afresh,
    from the terms that the index keeps: there is one segment, replaced whole. A change to n documents costs what building them does,
    less the analysis of those that stay.
    """

    FORMAT, KIND, OPTION = "retrolex-bm25-segments", "BM25", "language"

    @classmethod
    def _check_option(cls, option: str) -> None:
        Analyzer(option)

    def _open(self, folder: Path) -> BM25Index:
        return BM25Index.open(folder)

    def add(self, ids: list[str], contents: Iterable[str]) -> None:
        """Append documents.

        Raises:
            UserError: an id comes twice, or is that of a document in the index.
        """
        self._check_new(ids)
        analyzer = Analyzer(self.option)
        self._replace([*self.ids, *ids], [*self._terms(), *map(analyzer.terms, contents)])

    def delete(self, ids: Iterable[str]) -> None:
        """Take documents out.

        Raises:
            UserError: an id is not that of a document in the index; nothing is deleted then.
        """
        gone = set(ids)
        if unknown := gone.difference(self.ids):
            raise UserError(
                f"no document {min(unknown)!r} in the index; nothing was deleted", where=self.folder, mend="look at .ids for what there is"
            )
        kept = [(id, terms) for id, terms in zip(self.ids, self._terms(), strict=True) if id not in gone]
        self._replace([id for id, _ in kept], [terms for _, terms in kept])

    def merge(self) -> None:
        """Nothing to do: there is one segment."""

    def search(self, queries: Sequence[str], k: int, threads: int = 1) -> list[Hits]:
        """As `BM25Index.search`."""
        return self._segments[0].search(queries, k) if self._segments else [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in queries]

    def _replace(self, ids: list[str], documents: list[list[str]]) -> None:
        with self._writing():
            name = f"segment-{self._serial + 1:06}"
            folder = self.folder / name
            if ids:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                BM25Index.build_from_terms(folder, ids, documents, Analyzer(self.option))
                _keep_terms(folder, documents)
            self._commit([Part(name)] if ids else [])

    def _terms(self) -> list[list[str]]:
        return _kept_terms(self.folder / self._parts[0].name) if self._parts else []


def _keep_terms(folder: Path, documents: list[list[str]]) -> None:
    vocabulary = {term: number for number, term in enumerate(sorted({term for terms in documents for term in terms}))}
    numbers = [vocabulary[term] for terms in documents for term in terms]
    np.save(folder / "terms.npy", np.array(numbers, np.int32))
    np.save(folder / "lengths.npy", np.array([len(terms) for terms in documents], np.int64))
    write_json(folder / "vocabulary.json", list(vocabulary))


def _kept_terms(folder: Path) -> list[list[str]]:
    vocabulary = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    terms = [vocabulary[number] for number in np.load(folder / "terms.npy").tolist()]
    ends = np.cumsum(np.load(folder / "lengths.npy")).tolist()
    return [terms[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def _matrix(documents: list[list[str]], k1: float, b: float) -> Any:
    """bm25s' matrix of scores, its vocabulary in alphabetical order."""
    vocabulary = {term: number for number, term in enumerate(sorted({term for terms in documents for term in terms}))}
    matrix = _library().BM25(k1=k1, b=b, method="lucene", backend="numpy")
    if vocabulary:
        matrix.index(([[vocabulary[term] for term in terms] for terms in documents], vocabulary), show_progress=False)
    else:  # not a single term, which the library cannot count
        matrix.vocab_dict, matrix.nonoccurrence_array = {}, None
        matrix.scores = {
            "data": np.zeros(0, dtype=np.float32),
            "indices": np.zeros(0, dtype=np.int32),
            "indptr": np.zeros(1, dtype=np.int64),
            "num_docs": len(documents),
        }
    return matrix


def _best(scores: np.ndarray, k: int) -> Hits:
    """Positions and values of the k largest positive scores; ties go to the earlier document, also at the cut."""
    found = np.flatnonzero(scores > 0)
    values = scores[found]
    if len(found) > k > 0:
        keep = values >= np.partition(values, len(values) - k)[len(values) - k]
        found, values = found[keep], values[keep]
    order = np.argsort(-values, kind="stable")[:k]
    return found[order].astype(np.int64), values[order]


def _library():
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # importing it sets DEBUG
    return bm25s
