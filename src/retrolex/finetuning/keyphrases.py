"""Words of a document that a lexicon model weighs most: a query in the model's own opinion of what the document is about."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from retrolex.collection.documents import Document
from retrolex.finetuning.crops import Crop, tidy, visible
from retrolex.words import begins_word, is_unspaced, patterns

Weigh = Callable[[str], Mapping[str, float]]
"""Text -> vocabulary term, as the tokenizer spells it -> weight."""

NAME = "keyphrases"
STARTS = ("▁", "Ġ")  # SentencePiece and byte-level BPE mark where a word begins, WordPiece ("##") where it goes on
FEWEST, MOST = 3, 6  # words of a query
BEST = 12  # words that it is drawn from
COVERED = 0.5  # share of a word's letters that must belong to weighted terms


def from_keyphrases(document: Document, rng: random.Random, weigh: Weigh) -> Crop | None:
    """Three to six of the document's `BEST` words, drawn by their weights, in the document's order; and the whole document."""
    text = visible(document.full)
    weights = word_weights(text, weigh(text))
    best: list[str] = []
    for word in sorted(weights, key=lambda word: -weights[word]):  # stable: of equal weights the word that comes first
        if len(best) < BEST and not any(_kin(word.lower(), other.lower()) for other in best):
            best.append(word)
    if len(best) < FEWEST:
        return None
    drawn: set[str] = set()
    size = rng.randint(FEWEST, min(MOST, len(best)))
    while len(drawn) < size:
        left = [word for word in best if word not in drawn]
        drawn.update(rng.choices(left, [weights[word] for word in left]))
    return Crop(" ".join(word for word in weights if word in drawn), tidy(document.full))


def word_weights(text: str, terms: Mapping[str, float]) -> dict[str, float]:
    """Weight of every word of a text, by first occurrence, words without weight left out.

    A word is put together from terms, the longest first: one that begins a word, then ones that continue it. Its weight is the
    mean over its letters of the weights of the terms they belong to; letters of no term weigh 0. The spelling is that of the word's
    first occurrence; it is looked up as it is, in small letters, and without accents, as vocabularies have it one way or another.
    In scripts without spaces between words, the terms of two characters and more are words, and where there is none, every two
    neighbouring characters.
    """
    beginnings, continuations = _by_place(terms)
    anywhere = {term: max(beginnings.get(term, 0.0), continuations.get(term, 0.0)) for term in (*beginnings, *continuations)}
    found: dict[str, float] = {}
    seen: set[str] = set()
    for word in words(unicodedata.normalize("NFC", text), anywhere, max(map(len, anywhere), default=0)):
        if (key := word.lower()) not in seen:
            seen.add(key)
            known = (anywhere, anywhere) if is_unspaced(word) else (beginnings, continuations)
            weight = max(_weight(spelling, *known) for spelling in {word, key, _bare(key)})
            if weight > 0:
                found[word] = weight
    return found


def words(text: str, known: Container[str], longest: int) -> Iterator[str]:
    """The words of a text in order; where a script has no spaces between them, the longest known ones, which may overlap.

    Args:
        known: terms that make a word there, if they have two characters or more; where there is none, a pair of characters does.
        longest: characters of the longest of them.
    """
    for run in chain.from_iterable(map(patterns().run.findall, patterns().word.findall(text))):
        if not is_unspaced(run):
            yield run
            continue
        for start in range(max(1, len(run) - 1)):
            stops = range(min(len(run), start + longest), start + 1, -1)
            yield run[start : next((stop for stop in stops if run[start:stop] in known), start + 2)]


def weigher(encode: Callable[[list[str]], Any], names: Sequence[str]) -> Weigh:
    """Weights by term from an encoder of lexicon vectors.

    Args:
        encode: texts -> CSR [n, V].
        names: the vocabulary's terms by column.
    """

    def weigh(text: str) -> dict[str, float]:
        row = encode([text])
        return {names[column]: float(weight) for column, weight in zip(row.indices, row.data, strict=True)}

    return weigh


def _bare(word: str) -> str:
    """Without accents, which BERT's uncased vocabularies do not have."""
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if unicodedata.category(sign) != "Mn")


def _kin(one: str, other: str) -> bool:
    """Whether two words would say the same twice: one begins with the other, as "wings" does with "wing", or they share an unspaced character."""
    return one.startswith(other) or other.startswith(one) or any(begins_word(sign) for sign in set(one) & set(other))


def _by_place(terms: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """Terms without their marks: those that begin a word, and those that continue one."""
    marked = any(term.startswith(STARTS) for term in terms)  # else WordPiece
    beginnings, continuations = {}, {}
    for term, weight in terms.items():
        if weight > 0:
            continues = not term.startswith(STARTS) if marked else term.startswith("##")
            place = continuations if continues else beginnings
            place[term[1:] if marked and not continues else term.removeprefix("##")] = weight
    return beginnings, continuations


def _weight(word: str, beginnings: Mapping[str, float], continuations: Mapping[str, float]) -> float:
    total, covered, start = 0.0, 0, 0
    while start < len(word):
        known = continuations if start else beginnings
        stop = next((stop for stop in range(len(word), start, -1) if word[start:stop] in known), None)
        if stop is None:
            if not start:
                return 0.0  # nothing begins like this word
            start += 1
            continue
        total += (stop - start) * known[word[start:stop]]
        covered += stop - start
        start = stop
    return total / len(word) if covered >= COVERED * len(word) else 0.0
