"""retrolex turns a pile of text into a measured search engine."""

__version__ = "0.1.0"
