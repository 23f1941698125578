"""Why a lexicon model found a document: the terms that query and document share, and what each adds to the score."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from retrolex.encoding import Encoder

SHOWN = 12  # terms, the largest first


def shared_terms(encoder: Encoder, queries: Mapping[str, str], document: Callable[[str], str]) -> Callable[[str, str], list[tuple[str, float]]]:
    """A function of (query id, document id) that gives the shared terms, largest contribution first.

    Args:
        encoder: of lexicon vectors.
        queries: id -> text.
        document: id -> text.
    """

    def explain(query: str, id: str) -> list[tuple[str, float]]:
        asked, found = encoder.encode([queries[query]], "query"), encoder.encode([document(id)])
        products = asked.multiply(found).tocoo()
        names = encoder.tokenizer.convert_ids_to_tokens([int(column) for column in products.col])
        terms = sorted(zip(names, (float(value) for value in products.data), strict=True), key=lambda term: (-term[1], term[0]))
        return terms[:SHOWN]

    return explain
