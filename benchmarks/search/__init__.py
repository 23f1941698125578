"""The lexicon index against its peers on the same vectors: `python -m benchmarks.search`."""
