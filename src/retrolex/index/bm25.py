"""BM25 over the collection's words: the baseline that everything else is measured against.

Words and single letters (C, R, 5, the s of 's) are counted apart. Letters say much in a short query ("vitamin d",
"c pointers") and are noise in a long one or in code, so they take no part in document lengths, are not normalised by
length, and count only in queries of at most `SHORT_QUERY` words.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.index.analysis import Analyzer, is_short
from retrolex.index.base import Hits

SETTINGS = "bm25.json"
SHORT_QUERY = 3


class BM25Index:
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
        folder, analyzer = Path(folder), Analyzer(language)
        documents = [analyzer.terms(text) for text in texts]
        if len(documents) != len(ids):
            raise ValueError(f"{len(ids)} ids for {len(documents)} texts")
        if not documents:
            raise UserError("BM25 needs at least one document, found none", where=folder)
        words = _matrix([[term for term in terms if not is_short(term)] for terms in documents], k1, b)
        letters = _matrix([[term for term in terms if is_short(term)] for terms in documents], k1, 0.0)
        words.save(folder / "words", show_progress=False)
        letters.save(folder / "letters", show_progress=False)
        write_json(folder / SETTINGS, {"language": language, "k1": k1, "b": b, "ids": list(ids)})
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
