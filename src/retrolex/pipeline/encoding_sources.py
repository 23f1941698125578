"""What `retrolex encode` reads: the documents or the queries of a run, of a collection, of anything that can be imported, or a file of queries."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from retrolex.artifacts import read_manifest, sha256
from retrolex.collection import Collection
from retrolex.collection.arrow import DOCUMENTS, QUERIES
from retrolex.collection.documents import Query
from retrolex.collection.fingerprint import source_fingerprint
from retrolex.collection.readers.files import existing
from retrolex.collection.readers.query_file import read_query_file
from retrolex.collection.readers.records import Found, Reject
from retrolex.errors import UserError
from retrolex.pipeline.mining_sources import imported, open_collection
from retrolex.pipeline.stages import texts
from retrolex.progress import say

REJECTS = "rejects.jsonl"


@dataclass(frozen=True)
class Source:
    """Texts with ids, in their order.

    Attributes:
        name: for messages.
        count: of the texts.
        ids: gives all ids, from the first, without holding them.
        texts: gives the texts from a position up to, not including, another.
    """

    name: str
    count: int
    ids: Callable[[], Iterator[str]]
    texts: Callable[[int, int], list[str]]

    def __len__(self) -> int:
        return self.count


def is_query_file(source: str, kind: str) -> bool:
    """Whether a source is a file of queries."""
    return kind == "query" and Path(source).is_file()


def identity_of(source: str, kind: str) -> dict[str, Any]:
    """What decides a source's contents."""
    if is_query_file(source, kind):
        return {"queries": sha256(Path(source))}
    if folder := imported(source):
        manifest = read_manifest(folder)
        return {"collection": manifest["hash"] if manifest else [sha256(folder / name) for name, _ in (DOCUMENTS, QUERIES)]}
    return source_fingerprint(source)


def import_source(source: str, kind: str, place: Path) -> None:
    """Make a source ready for `open_source`, which many processes may then call.

    Raises:
        UserError: there is nothing to encode, or something that its owner has to mend.
    """
    if not is_query_file(source, kind):
        open_collection(source, place)
    if not len(open_source(source, kind, place)):
        raise UserError("no queries in it" if kind == "query" else "no documents in it", where=source, mend="name another source")


def open_source(source: str, kind: str, place: Path, separator: str = " ") -> Source:
    """The texts of a source.

    Args:
        source: see `pipeline.encoding.Job`.
        kind: ``document`` or ``query``.
        place: where `import_source` has put it.
        separator: what stands between a document's title and its text.
    """
    name = Path(source).name
    if is_query_file(source, kind):
        return of_queries(name, queries_of(Path(source))[0])
    collection = Collection.open(imported(source) or place / "collection")
    if kind == "query":
        return of_queries(name, collection.queries)
    return Source(name, len(collection), collection.each_id, lambda a, b: list(texts(collection, a, b, separator)))


def of_queries(name: str, queries: dict[str, str]) -> Source:
    """Queries, which memory holds."""
    return Source(name, len(queries), lambda: iter(queries), lambda a, b: list(islice(queries.values(), a, b)))


def queries_of(path: Path) -> tuple[dict[str, str], list[Reject]]:
    """The queries of a file, and the rows that are none.

    Raises:
        UserError: an id that occurs twice, or what the file's format forbids.
    """
    queries: dict[str, str] = {}
    rejects = []
    for record in read_query_file(existing(path)):
        if isinstance(record, Reject):
            rejects.append(record)
        elif isinstance(record, Found) and isinstance(record.item, Query):
            if record.item.id in queries:
                raise UserError(f"the id {record.item.id!r} has occurred before", where=record.place, mend="give every query its own id")
            queries[record.item.id] = record.item.text
    if not queries and rejects:
        raise UserError(f"no queries in it: {rejects[0].reason}", where=rejects[0].place, mend='write {"_id": ..., "text": ...}, or id, tab, query')
    return queries, rejects


def list_rejects(source: str, kind: str, place: Path, out: Path) -> int:
    """Write ``rejects.jsonl`` where rows of the source could not be read here; returns how many."""
    if is_query_file(source, kind):
        found = queries_of(Path(source))[1]
        lines = [json.dumps({"file": Path(row.place.file).name, "line": row.place.line, "reason": row.reason}, ensure_ascii=False) for row in found]
        if lines:
            (out / REJECTS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
            say(f"{source}: {len(lines):,} rejects, listed in {REJECTS}")
        return len(lines)
    listed = place / "collection" / REJECTS
    if not listed.exists() or not listed.stat().st_size:
        return 0
    shutil.copyfile(listed, out / REJECTS)
    with open(listed, encoding="utf-8") as file:
        return sum(1 for _ in file)
