"""The retrieval probe: does the model being trained find documents it has never seen, given their titles?

Known-item retrieval over held-out documents: the query is a document's title, or its first sentence where it has no title
(its first words where it has no punctuation either), and the rest of the document is the one right answer. No judgments are
needed, and BM25 answers the same queries.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from retrolex.backbones import Backbone, Spec
from retrolex.backbones.representations import lexicon, pool
from retrolex.collection import Document
from retrolex.index.bm25 import BM25Index
from retrolex.tokens import Vocabulary
from retrolex.words import first_sentence, spans

BATCH, LEAD = 32, 8


@dataclass(frozen=True)
class KnownItems:
    """Held-out documents and the queries that ask for them.

    Attributes:
        rows: positions of the documents in the collection, ascending; training leaves them out.
        queries, texts: one of each a row; a text lacks what became its query. No query asks for two of them.
        language: of BM25's stemmer.
    """

    rows: tuple[int, ...]
    queries: tuple[str, ...]
    texts: tuple[str, ...]
    language: str = "english"


def known_items(documents: Sequence[Document], count: int = 300, seed: int = 0, language: str = "english") -> KnownItems | None:
    """Hold out documents at random: `count` of them, but at most a tenth; None where too few can be split to tell anything."""
    wanted = min(count, len(documents) // 10)
    found: list[tuple[int, str, str]] = []
    asked: set[str] = set()
    for row in np.random.default_rng(seed).permutation(len(documents)):
        if len(found) == wanted:
            break
        document = documents[int(row)]
        # A title that several documents share (the parts of one article) asks for none of them; the first sentence still may.
        for candidate in (document, Document(document.id, "", document.text)):
            if (parts := split(candidate)) and parts[0] not in asked:
                asked.add(parts[0])
                found.append((int(row), *parts))
                break
    if len(found) < 10:
        return None
    rows, queries, texts = zip(*sorted(found), strict=True)
    return KnownItems(rows, queries, texts, language)


def split(document: Document) -> tuple[str, str] | None:
    """Query and remaining text of a document; None where it is one short sentence."""
    title, text = document.title.strip(), document.text.strip()
    if title and text:
        return title, text
    text = title or text
    for end in (first_sentence(text), lead(text)):
        if end is not None and (rest := text[end:].strip()):
            return text[:end].strip(), rest
    return None


def lead(text: str) -> int | None:
    """Where the first words of a text without punctuation end; None where it has too few."""
    words = spans(text)
    return words[LEAD - 1][1] if len(words) >= 3 * LEAD else None


def figures(scores: np.ndarray) -> dict[str, float]:
    """RR@10 and R@10 from scores [n, n], the right answer on the diagonal; among equals the right one comes last."""
    ranks = (scores >= np.diagonal(scores)[:, None]).sum(1)
    return {"RR@10": round(float(np.where(ranks <= 10, 1 / ranks, 0.0).mean()), 4), "R@10": round(float((ranks <= 10).mean()), 4)}


def bm25_figures(items: KnownItems) -> dict[str, float]:
    """BM25's figures for the same queries and documents."""
    with tempfile.TemporaryDirectory() as folder:
        index = BM25Index.build(folder, [str(row) for row in items.rows], items.texts, items.language)
        return figures(np.stack([index.scores(query) for query in items.queries]))


class Probe:
    """Known items tokenised once, ready to be asked for again and again.

    Args:
        items: what to find.
        tokenizer: of the backbone.
        spec: pooling, normalisation and lengths.
    """

    def __init__(self, items: KnownItems, tokenizer: Any, spec: Spec):
        self.spec, self.vocabulary = spec, Vocabulary.of(tokenizer)
        self.queries = tokenizer(list(items.queries), truncation=True, max_length=spec.query_length)["input_ids"]
        self.texts = tokenizer(list(items.texts), truncation=True, max_length=spec.document_length)["input_ids"]

    @torch.no_grad()
    def measure(self, backbone: Backbone) -> dict[str, Any]:
        """Figures of both representations, and what tells of a dead run.

        Returns:
            ``dense`` and ``lexicon``: RR@10 and R@10; ``cosine``: mean over pairs of different documents (1: all alike);
            ``density``: mean share of the vocabulary that a document's lexicon vector uses.
        """
        queries, query_terms = self.encode(backbone, self.queries)
        texts, text_terms = self.encode(backbone, self.texts)
        directions = F.normalize(texts, dim=1)
        count = len(texts)
        cosine = (directions.sum(0).square().sum() - count) / (count * (count - 1))
        if self.spec.normalize:
            queries, texts = F.normalize(queries, dim=1), directions
        return {
            "dense": figures((queries @ texts.t()).float().cpu().numpy()),
            "lexicon": figures((query_terms @ text_terms.t()).float().cpu().numpy()),
            "cosine": round(cosine.item(), 4),
            "density": round((text_terms > 0).float().mean().item(), 4),
        }

    def encode(self, backbone: Backbone, rows: list[list[int]]) -> tuple[Tensor, Tensor]:
        """Dense vectors [n, H] and lexicon vectors [n, V], in order."""
        order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
        dense, terms = zip(*(self.forward(backbone, batch) for batch in batches([rows[index] for index in order])), strict=True)
        back = torch.tensor(order).argsort()
        return torch.cat(dense)[back], torch.cat(terms)[back]

    def forward(self, backbone: Backbone, rows: list[list[int]]) -> tuple[Tensor, Tensor]:
        """Dense and lexicon vectors of one batch, on the CPU."""
        device = backbone.word_embeddings.weight.device
        ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=self.vocabulary.pad).to(device)
        lengths = torch.tensor([len(row) for row in rows], device=device)
        attention = (torch.arange(ids.shape[1], device=device) < lengths[:, None]).long()
        hidden = backbone.hidden(ids, attention)
        text = attention.bool() & ~torch.isin(ids, torch.tensor(self.vocabulary.special, device=device))
        return pool(hidden, attention, self.spec.pooling).cpu(), lexicon(backbone, hidden, text).cpu()


def batches(rows: list[list[int]]) -> Iterator[list[list[int]]]:
    """Runs of BATCH rows."""
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
