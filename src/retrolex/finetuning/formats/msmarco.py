"""MS MARCO triples: query, positive and negative between tabs, as ids or as texts; one line a negative.

Such a line cannot hold a tab, a line break or a NUL: ids with one are refused, in texts they become spaces, which is counted. Neither can it
say of a query that it has no negative: such rows are counted and left out, and so are triples of blanks only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from retrolex.collection.readers.msmarco_training import read_triples
from retrolex.collection.readers.records import Reject
from retrolex.errors import UserError
from retrolex.finetuning.formats.rows import Format, Passage, Row

BREAKS = re.compile("[\t\r\n\ufeff\x00]")


def read_ids(path: Path) -> Iterator[Row | Reject]:
    """Rows of one positive and one negative, by id."""
    for triple in read_triples(path, ids=True):
        if not isinstance(triple, Reject):
            triple = Row(triple.query, None, (Passage(triple.positive),), (Passage(triple.negative),), triple.place)
        yield triple


def read_texts(path: Path) -> Iterator[Row | Reject]:
    """Rows of one positive and one negative, by text."""
    for triple in read_triples(path, ids=False):
        if not isinstance(triple, Reject):
            triple = Row("", triple.query, (Passage(text=triple.positive),), (Passage(text=triple.negative),), triple.place)
        yield triple


def write_ids(path: Path, rows: Iterable[Row]) -> dict[str, int]:
    """One line for every positive and negative of a row.

    Raises:
        UserError: an id that is empty, or holds a tab or a line break.
    """

    def columns(row: Row, positive: Passage, negative: Passage, counts: Counter[str]) -> list[str]:
        for id in (fields := [row.query_id, positive.id, negative.id]):
            if not id or id != id.strip() or BREAKS.search(id):
                raise UserError(f"the id {id!r} cannot stand in a file of triples", where=path, mend="choose a format of JSON lines")
        return fields

    return _write(path, rows, columns)


def write_texts(path: Path, rows: Iterable[Row]) -> dict[str, int]:
    """One line for every positive and negative of a row."""

    def columns(row: Row, positive: Passage, negative: Passage, counts: Counter[str]) -> list[str]:
        texts = [row.query or "", positive.full, negative.full]
        cleaned = [BREAKS.sub(" ", text) for text in texts]
        counts["texts with tabs or line breaks made spaces"] += sum(one != other for one, other in zip(texts, cleaned, strict=True))
        return cleaned

    return _write(path, rows, columns)


def _write(path: Path, rows: Iterable[Row], columns: Callable[[Row, Passage, Passage, Counter[str]], list[str]]) -> dict[str, int]:
    counts = Counter({"rows": 0})
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            counts["rows without a negative, left out"] += not row.negatives
            for positive in row.positives:
                for negative in row.negatives:
                    line = "\t".join(columns(row, positive, negative, counts))
                    written = bool(line.strip())
                    counts["rows" if written else "blank triples, left out"] += 1
                    file.write(line + "\n" if written else "")
    return {name: count for name, count in counts.items() if count or name == "rows"}


SUFFIXES = (".tsv", ".txt")
IDS = Format("MS MARCO triples of ids", read_ids, write_ids, texts=False, queries=False, suffixes=SUFFIXES)
TEXTS = Format("MS MARCO triples of texts", read_texts, write_texts, suffixes=SUFFIXES)
