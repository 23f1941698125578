"""Text to terms, for lexical search in any language.

A term is a maximal run of letters, digits, underscores and the combining marks between them, lower-cased, without stop
words, and stemmed. Words that stand without spaces between them (Chinese, Japanese, Thai, ...) become pairs of
neighbouring characters instead.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import pairwise

from retrolex.errors import UserError
from retrolex.words import ASCII_WORD, patterns

JOINERS = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))  # invisible inside a word: soft hyphen, joiners

UNSTEMMED = ("chinese", "japanese", "korean", "thai", "other")
"""Languages that Snowball has no stemmer for; `other` is any language: no stop words, no stemming."""


def languages() -> list[str]:
    """Names that `Analyzer` takes."""
    import Stemmer

    return sorted({*Stemmer.algorithms(), *UNSTEMMED} - {"porter"})


class Analyzer:
    """Turns texts into lists of terms; the same text gives the same terms on every machine.

    Args:
        language: English name of the language, in small letters; decides stop words and stemmer.

    Raises:
        UserError: there is no such language.
    """

    def __init__(self, language: str = "english"):
        import Stemmer

        if language not in languages():
            raise UserError(f"no language {language!r} for BM25", mend=f"choose one of: {', '.join(languages())}")
        self.language = language
        self._stop_words = stop_words(language)
        self._stemmer = None if language in UNSTEMMED else Stemmer.Stemmer(language)
        self._known: dict[str, tuple[str, ...]] = {}  # a text repeats its words a lot

    def terms(self, text: str) -> list[str]:
        """Terms of a text in order, repeats included."""
        text, terms = normalize(text), []
        for word in (ASCII_WORD if text.isascii() else patterns().word).findall(text):
            known = self._known.get(word)
            if known is None:
                known = self._known[word] = self._analyze(word)
            terms.extend(known)
        return terms

    def _analyze(self, word: str) -> tuple[str, ...]:
        """One term for most words, none for a stop word, several where a script does without spaces."""
        if word in self._stop_words:
            return ()
        if word.isascii() or not patterns().character.search(word):
            return (self._stem(word),)
        terms: list[str] = []
        for run in patterns().run.findall(word):
            characters = patterns().character.findall(run)
            terms.extend(_pairs(characters) if characters else (self._stem(run),))
        return tuple(terms)

    def _stem(self, word: str) -> str:
        return self._stemmer.stemWord(word) if self._stemmer is not None else word


def normalize(text: str) -> str:
    """One spelling for what looks the same: Unicode's compatibility composition (NFKC), small letters, no joiners."""
    if text.isascii():
        return text.lower()
    # Lower-casing can decompose ("İ" becomes "i" and a dot above), hence the second composition.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).translate(JOINERS).lower())


@lru_cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a language, an empty set where no list is known."""
    from bm25s import stopwords

    name = "STOPWORDS_EN" if language == "english" else f"STOPWORDS_{language.upper()}"
    listed = () if language in UNSTEMMED else getattr(stopwords, name, ())
    return frozenset(normalize(word) for word in listed)


def _pairs(characters: list[str]) -> list[str]:
    """Neighbouring characters two by two; a character that stands alone is a term itself."""
    if len(characters) == 1:
        return characters
    return [left + right for left, right in pairwise(characters)]


def is_short(term: str) -> bool:
    """Whether a term is a single letter, digit or underscore of a script with spaces: C, R, 5, the s of 's."""
    return len(term) == 1 and not patterns().character.match(term)
