"""A file of queries alone: JSON lines, TREC topics, or lines `id TAB query`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.readers import jsonl_file, trec_topics
from retrolex.collection.readers.beir_folder import read_query_objects
from retrolex.collection.readers.lines import kind_of
from retrolex.collection.readers.records import Record


def read_query_file(path: Path) -> Iterator[Record]:
    """The queries of one file, plain or with .gz; rows that are none come as rejects.

    Raises:
        UserError: a row without an id, or one that its format forbids.
    """
    if kind_of(path) in jsonl_file.KINDS:
        return read_query_objects(path)
    return trec_topics.read_topics(path, trec_topics.chosen_parts({}))
