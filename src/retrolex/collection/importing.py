"""A source, in any format, becomes the files of a collection folder: row by row, every row accounted for.

Rows in = documents + queries + judgments + rejects. Rejects are listed in `rejects.jsonl`; judgments that are kept but
point to nothing in the collection are listed in `warnings.jsonl`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from retrolex.collection.arrow import DOCUMENTS, QRELS, QUERIES, TableWriter
from retrolex.collection.documents import Document, Judgment, Query
from retrolex.collection.ids import Ids
from retrolex.collection.readers import reader_for
from retrolex.collection.readers.records import Found, Place, Record, Reject, shortened
from retrolex.errors import UserError
from retrolex.progress import say, track

TABLES = {Document: DOCUMENTS, Query: QUERIES, Judgment: QRELS}


def import_collection(source: str | Path, target: Path, reader: str | None = None, columns: dict[str, str] | None = None) -> dict[str, Any]:
    """Read a source and write documents.arrow, queries.arrow, qrels.arrow, rejects.jsonl and warnings.jsonl into `target`.

    Args:
        source: a file, a folder, or the name of a collection that comes with retrolex.
        target: an existing folder; the caller takes care of its manifest.
        reader: the format's name; recognised when None.
        columns: `id`, `title` or `text` -> the source's name for it.

    Returns:
        Counts: the reader's name, documents, empty documents, queries, judgments by split, rejects, warnings.

    Raises:
        UserError: the source holds no documents, or something its owner has to mend.
    """
    name, chosen = reader_for(source, reader)
    if columns and not chosen.has_columns:
        raise UserError(f"the reader {name!r} takes no column names: its format has fixed ones", where=source)
    with _Importer(Path(source), Path(target)) as importer:
        for record in track(_unicode_only(chosen.read(Path(source), columns or {})), f"Reading {source}"):
            importer.add(record)
    for kind, ids in importer.ids.items():
        if suspects := ids.repeated():
            _refuse_repeated(kind, suspects, _unicode_only(chosen.read(Path(source), columns or {})))
    counts = {"reader": name, **importer.counts()}
    if not counts["documents"]:
        skipped = importer.first_reject
        read = ", ".join(path.name for path in chosen.files(Path(source))[:3])
        why = f": all {counts['rejects']} rows had to be skipped, the first at {skipped.place}: {skipped.reason}" if skipped else f" (read: {read})"
        raise UserError(f"no documents in it{why}", where=source, mend="check that this is the right file or folder, and its format")
    for kind in ("rejects", "warnings"):
        if counts[kind]:
            say(f"{source}: {counts[kind]:,} {kind}, listed in {kind}.jsonl")
    return counts


def _unicode_only(records: Iterator[Record]) -> Iterator[Record]:
    """The records, those with text that UTF-8 cannot hold turned into rejects: JSON can spell half a surrogate pair."""
    for record in records:
        if isinstance(record, Found):
            try:
                for value in record.item:
                    if isinstance(value, str):
                        value.encode()
            except UnicodeEncodeError:
                record = Reject(record.place, "text that is not Unicode: half of a surrogate pair, or a file name in another encoding")
        yield record


def _refuse_repeated(kind: type, suspects: set[int], records: Iterator[Record]) -> None:
    """Name the first id that occurs twice, and both places. Reading the source once more spares keeping every id in memory.

    Raises:
        UserError: unless all suspects only happened to have equal hashes.
    """
    first: dict[str, Place] = {}
    for record in records:
        if isinstance(record, Found) and isinstance(record.item, kind) and hash(record.item.id) in suspects:
            id = record.item.id
            if id in first:
                raise UserError(f"the id {shortened(id)} has occurred before, at {first[id]}", where=record.place, mend="give every row its own id")
            first[id] = record.place


class _Importer:
    """Writes records to their files and counts them."""

    def __init__(self, source: Path, target: Path):
        self._base = source if source.is_dir() else source.parent
        self._closing = ExitStack()
        self._tables = {kind: self._closing.enter_context(TableWriter(target, table)) for kind, table in TABLES.items()}
        # A character that cannot be written is written as \udcXX, which is also how JSON spells it.
        self._lists = {
            kind: self._closing.enter_context(open(target / f"{kind}.jsonl", "w", encoding="utf-8", errors="backslashreplace", newline="\n"))  # noqa: SIM115
            for kind in ("rejects", "warnings")
        }
        self.ids: dict[type, Ids] = {Document: Ids(), Query: Ids()}
        self._counted: Counter[str] = Counter()
        self._judgments: Counter[str] = Counter()
        self.first_reject: Reject | None = None

    def __enter__(self) -> _Importer:
        return self

    def __exit__(self, *error: Any) -> None:
        self._closing.__exit__(*error)

    def add(self, record: Record) -> None:
        """Take one record."""
        if isinstance(record, Reject):
            self.first_reject = self.first_reject or record
            self._list("rejects", record.place, record.reason)
            return
        item = record.item
        if isinstance(item, Judgment):
            self._judgments[item.split] += 1
            self._check(item, record.place)
        else:
            self.ids[type(item)].add(item.id)
            self._counted["empty documents"] += isinstance(item, Document) and not item.full
        self._tables[type(item)].add(item)

    def _check(self, judgment: Judgment, place: Place) -> None:
        for kind, id in ((Query, judgment.query), (Document, judgment.document)):
            if id not in self.ids[kind]:
                self._list("warnings", place, f"a judgment of the {kind.__name__.lower()} {shortened(id)}, which is not in the collection")

    def _list(self, kind: str, place: Place, reason: str) -> None:
        self._counted[kind] += 1
        path = Path(place.file)
        file = path.relative_to(self._base).as_posix() if path.is_relative_to(self._base) else place.file
        print(json.dumps({"file": file, "line": place.line, "reason": reason}, ensure_ascii=False), file=self._lists[kind])

    def counts(self) -> dict[str, Any]:
        """What has been taken so far."""
        return {
            "documents": len(self.ids[Document]),
            "empty documents": self._counted["empty documents"],
            "queries": len(self.ids[Query]),
            "judgments": dict(sorted(self._judgments.items())),
            "rejects": self._counted["rejects"],
            "warnings": self._counted["warnings"],
        }
