"""What the vectors of a retriever look like from outside: which column is which term, and what a query's vector is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from retrolex.errors import UserError
from retrolex.index.lexicon.weights import Weights, impacts

if TYPE_CHECKING:
    from retrolex.encoding import Encoder

Terms: TypeAlias = dict[int, float]
"""Column -> weight, columns ascending; int weights where the index has integer impacts."""

Vector: TypeAlias = "Terms | list[float]"
"""One text's vector: terms (lexicon) or components (dense)."""

LARGEST_NAME = 255  # characters of a term's name: Lucene's tokenizers cut there


@dataclass(frozen=True)
class Form:
    """The form that documents and queries of one retriever share.

    Attributes:
        representation: ``lexicon`` or ``dense``.
        width: columns: the vocabulary's size, or components.
        terms: surface form of each column; empty for dense.
        weights: how lexicon weights become what is summed; see `retrolex.index.lexicon.weights`.
    """

    representation: str
    width: int
    terms: Sequence[str] = ()
    weights: Weights = "floor"

    @classmethod
    def of(cls, encoder: Encoder, weights: Weights = "floor") -> Form:
        """The form of an encoder's vectors."""
        terms = surface_forms(encoder.tokenizer, encoder.width) if encoder.representation == "lexicon" else ()
        return cls(encoder.representation, encoder.width, terms, weights)

    @property
    def lexicon(self) -> bool:
        """Whether vectors are terms."""
        return self.representation == "lexicon"

    @property
    def integer(self) -> bool:
        """Whether weights are integer impacts, 100 times what the model emits."""
        return self.lexicon and self.weights != "float"

    def queries(self, texts: Sequence[str], encoder: Encoder) -> list[Vector]:
        """The vectors that the embedded index would be asked with, one a text.

        Raises:
            UserError: the encoder makes other vectors.
        """
        if (encoder.representation, encoder.width) != (self.representation, self.width):
            found = f"an encoder of {encoder.representation} vectors with {encoder.width:,} columns"
            raise UserError(f"{found} for {self.representation} ones with {self.width:,}", mend="take the documents' model")
        rows: Any = encoder.encode(list(texts), "query")
        if not self.lexicon:
            return rows.tolist()
        pointers, columns, weights = impacts(rows, self.weights, lambda row: f"query {texts[row]!r}")
        return [terms_of(columns[a:b], weights[a:b]) for a, b in pairwise(pointers.tolist())]


def terms_of(columns: np.ndarray, weights: np.ndarray) -> Terms:
    """One row of a CSR matrix."""
    return dict(zip(columns.tolist(), weights.tolist(), strict=True))


def surface_forms(tokenizer: Any, width: int) -> list[str]:
    """The vocabulary as it is written (``##ing`` is kept), column by column; a column without a token of its own is called ``[number]``."""
    tokens = tokenizer.convert_ids_to_tokens(list(range(min(width, len(tokenizer)))))
    return renamed([*tokens, *[""] * (width - len(tokens))], lambda term: not term)


def renamed(terms: Sequence[str | None], unfit: Callable[[str], bool] = lambda term: False) -> list[str]:
    """Names without the unfit ones: a column's number in brackets stands for each, so that no two terms become one.

    Args:
        terms: by column.
        unfit: which ones an engine cannot take.
    """
    kept = [None if not term or unfit(term) else term for term in terms]
    taken, names = set(filter(None, kept)), []
    for column, term in enumerate(kept):
        name = term if term is not None else f"[{column}]"
        while term is None and name in taken:
            name = f"[{name}]"
        names.append(name)
    return names


def has_space(term: str) -> bool:
    """Whether a term cannot be one word of a text that is split at white space."""
    return len(term) > LARGEST_NAME or any(character.isspace() for character in term)


def has_dot(term: str) -> bool:
    """Whether a term would be a path in engines whose feature names are fields."""
    return "." in term
