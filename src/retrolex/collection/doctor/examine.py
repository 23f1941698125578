"""One pass over a source, every family of findings looking on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from retrolex.collection.doctor import leakage, texts
from retrolex.collection.doctor.encodings import Encodings, marked_files
from retrolex.collection.doctor.findings import Finding
from retrolex.collection.doctor.ids import Ids, number_ids
from retrolex.collection.doctor.judgments import Judgments
from retrolex.collection.doctor.languages import Languages
from retrolex.collection.doctor.ledger import Ledger
from retrolex.collection.doctor.lengths import Lengths
from retrolex.collection.doctor.skipped import Skipped, stopped
from retrolex.collection.doctor.token_counts import TokenCounter, token_counter
from retrolex.collection.documents import Document, Judgment, Query
from retrolex.collection.readers import reader_for
from retrolex.collection.readers.jsonl_file import KINDS as JSON_LINES
from retrolex.collection.readers.lines import kind_of
from retrolex.collection.readers.records import Place, Record, Reject
from retrolex.errors import UserError
from retrolex.progress import track

LENGTH = 128
"""Longest document in tokens, specials included, that a run's default models read."""

BINARY = (".parquet", ".arrow")
ORDER = ("error", "warning", "note")


class Watcher(Protocol):
    """A family that looks at every row."""

    def see(self, item: Document | Query | Judgment, place: Place) -> None:
        """One more row, in reading order: documents, queries, judgments."""

    def findings(self, ledger: Ledger) -> list[Finding]:
        """What was found, once all rows have been seen."""


@dataclass(frozen=True)
class Report:
    """What is in a source, and what is wrong with it.

    Attributes:
        source, reader: what was read, and as which format.
        counts: documents, queries, judgments by split, rows skipped.
        lengths: the documents' tokens; see `Lengths.summary`.
        languages: language -> share of the documents.
        findings: errors first, then warnings, then notes; the paths in them are relative to the source's folder.
    """

    source: Path
    reader: str
    counts: dict[str, Any]
    lengths: dict[str, int | float | str]
    languages: dict[str, float]
    findings: list[Finding]

    @property
    def exit_code(self) -> int:
        """1 when there are errors, else 0."""
        return int(any(finding.severity == "error" for finding in self.findings))

    def plain(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        findings = [
            {
                "name": finding.name,
                "severity": finding.severity,
                "count": finding.count,
                "examples": [{"file": place.file, "line": place.line, "what": what} for place, what in finding.examples],
                "mend": finding.mend,
            }
            for finding in self.findings
        ]
        facts = {"counts": self.counts, "lengths": self.lengths, "languages": self.languages}
        return {"source": str(self.source), "reader": self.reader, **facts, "findings": findings}


def examine(
    source: str | Path,
    *,
    reader: str | None = None,
    columns: Mapping[str, str] | None = None,
    counter: TokenCounter | None = None,
    length: int = LENGTH,
) -> Report:
    """Read a source once and tell what is wrong with it.

    Args:
        source: a file, a folder, or the name of a collection that comes with retrolex.
        reader: the format's name; recognised when None.
        columns: which column is the ``id``, the ``title``, the ``text``, where their names are not the usual ones.
        counter: counts tokens; `token_counter()` when None.
        length: longest document in tokens, specials included.

    Raises:
        UserError: the source cannot be read at all, or holds no documents.
    """
    name, chosen = reader_for(source, reader)
    source = Path(source)
    seen = _Seen(source, Lengths(counter or token_counter(), length))
    found: list[Finding] = []
    try:
        for record in track(chosen.read(source, dict(columns or {})), f"Checking {source}"):
            seen.add(record)
    except UserError as error:
        if not seen.ledger.documents:
            raise
        place = error.where if isinstance(error.where, Place) else Place(str(error.where or source), 1)
        found += stopped(error, seen.shown(place))
    if not seen.ledger.documents:
        first = seen.skipped.tally.examples[:1]
        why = f": all {seen.skipped.tally.count} rows had to be skipped, the first at {first[0].place}: {first[0].what}" if first else ""
        raise UserError(f"no documents in it{why}", where=source, mend="check that this is the right file or folder, and its format")
    found += seen.findings() + _of_bytes([path for path in chosen.files(source) if path.is_file()], seen.shown)
    found.sort(key=lambda finding: ORDER.index(finding.severity))
    return Report(source, name, seen.counts(), seen.lengths.summary(), seen.languages.summary(), found)


class _Seen:
    """Everybody who looks at the rows."""

    def __init__(self, source: Path, lengths: Lengths):
        self._base = source if source.is_dir() else source.parent
        self._names: dict[str, str] = {}
        self._judgments: Counter[str] = Counter()
        self.ledger, self.skipped, self.lengths, self.languages = Ledger(), Skipped(), lengths, Languages()
        self._watchers: list[Watcher] = [Ids(), Judgments(self.ledger), Encodings(), self.lengths, self.languages]

    def shown(self, place: Place) -> Place:
        """The place, its file's path relative to the source's folder."""
        if place.file not in self._names:
            path = Path(place.file)
            self._names[place.file] = path.relative_to(self._base).as_posix() if path.is_relative_to(self._base) else place.file
        return Place(self._names[place.file], place.line)

    def add(self, record: Record) -> None:
        """Show one record to everybody."""
        place = self.shown(record.place)
        if isinstance(record, Reject):
            self.skipped.see(place, record.reason)
            return
        self.ledger.add(record.item, place)
        if isinstance(record.item, Judgment):
            self._judgments[record.item.split] += 1
        for watcher in self._watchers:
            watcher.see(record.item, place)

    def findings(self) -> list[Finding]:
        """What everybody has found."""
        seen = [finding for watcher in self._watchers for finding in watcher.findings(self.ledger)]
        return [*seen, *self.skipped.findings(), *texts.findings(self.ledger), *leakage.findings(self.ledger)]

    def counts(self) -> dict[str, Any]:
        """How many rows of each kind there are."""
        rows = {"documents": len(self.ledger.documents), "queries": len(self.ledger.queries)}
        return {**rows, "judgments": dict(sorted(self._judgments.items())), "skipped": self.skipped.tally.count}


def _of_bytes(files: list[Path], shown: Callable[[Place], Place]) -> list[Finding]:
    """What only the bytes tell, for a reader hands over text: marks at the start, and numbers for ids."""
    texts = [path for path in files if kind_of(path) not in BINARY]
    return [*marked_files(texts, shown), *number_ids([path for path in texts if kind_of(path) in JSON_LINES], shown)]
