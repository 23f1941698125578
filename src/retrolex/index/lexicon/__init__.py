"""Exact search by inner product of sparse term weights: an inverted index over a native kernel."""

from retrolex.index.lexicon.index import LexiconIndex

__all__ = ["LexiconIndex"]
