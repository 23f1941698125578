"""Exact search by inner product of sparse term weights: an inverted index over a native kernel."""

from retrolex.index.lexicon.index import LexiconIndex
from retrolex.index.lexicon.segments import SegmentedLexiconIndex

__all__ = ["LexiconIndex", "SegmentedLexiconIndex"]
