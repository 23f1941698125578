"""Indexes: exact lexicon, dense, BM25; one file or folder each, one form of results."""
