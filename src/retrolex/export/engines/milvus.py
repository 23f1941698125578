"""Milvus 2.4 or newer: rows for its bulk import, with a sparse vector of impacts or a dense one, searched by inner product."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.export.form import Form, Vector
from retrolex.export.source import Source
from retrolex.export.vectors import Row, open_vectors

NAME = "retrolex"  # of the collection
SPARSE, DENSE = "terms", "vector"  # names of the fields
LONGEST = 65_535  # bytes of a VarChar
PART = 256 << 20  # bytes of a file; an import takes 1 GB each, and many files
README = """# For Milvus

{documents:,} documents{cut}. `collection.json` is the body of `POST /v2/vectordb/collections/create`. Put `documents-*.json` where Milvus imports
from and name them in `POST /v2/vectordb/jobs/import/create`. `position` is the primary key: the document's place in the collection.

`retrolex.export.queries.query_for("milvus", text, encoder)` is the body of `POST /v2/vectordb/entities/search`.
"""


def export(source: Source, folder: Path) -> dict[str, Any]:
    """Write ``collection.json`` and rows; returns counts for the manifest.

    Raises:
        UserError: an id is too long, or there are no documents.
    """
    vectors = open_vectors(source)
    write_json(folder / "collection.json", collection(vectors.form))
    cut = 0
    for number, (rows, short) in enumerate(parts(map(record, vectors.rows()))):
        text = ",\n".join(rows)
        (folder / f"documents-{number:05d}.json").write_text(f'{{"rows": [\n{text}\n]}}\n', encoding="utf-8", newline="\n")
        cut += short
    counts = {"documents": len(vectors), "texts cut": cut}
    said = f", {cut:,} with texts cut at {LONGEST:,} bytes" if cut else ""
    (folder / "README.md").write_text(README.format(documents=len(vectors), cut=said), encoding="utf-8")
    return counts


def collection(form: Form) -> dict[str, Any]:
    """The collection's fields and index."""
    kind = {"dataType": "SparseFloatVector"} if form.lexicon else {"dataType": "FloatVector", "elementTypeParams": {"dim": str(form.width)}}
    name = SPARSE if form.lexicon else DENSE
    words = [{"fieldName": field, "dataType": "VarChar", "elementTypeParams": {"max_length": str(LONGEST)}} for field in ("id", "title", "text")]
    fields = [{"fieldName": "position", "dataType": "Int64", "isPrimary": True}, *words, {"fieldName": name, **kind}]
    index = "SPARSE_INVERTED_INDEX" if form.lexicon else "FLAT"
    return {
        "collectionName": NAME,
        "schema": {"autoId": False, "enableDynamicField": False, "fields": fields},
        "indexParams": [{"fieldName": name, "indexName": name, "metricType": "IP", "indexType": index, "params": {"index_type": index}}],
    }


def record(row: Row) -> tuple[str, bool]:
    """One row as JSON, and whether its title or text had to be cut.

    Raises:
        UserError: the id is longer than Milvus holds.
    """
    if len(row.id.encode("utf-8")) > LONGEST:
        raise UserError(f"the id {row.id[:40]!r}... is longer than {LONGEST:,} bytes", mend="give the document another id")
    title, text = shortened(row.title), shortened(row.text)
    named = {DENSE: row.vector} if isinstance(row.vector, list) else {SPARSE: sparse(row.vector)}
    fields = {"position": row.position, "id": row.id, "title": title, "text": text, **named}
    return json.dumps(fields, ensure_ascii=False), (title, text) != (row.title, row.text)


def shortened(text: str) -> str:
    """As much of a text as a VarChar holds, whole characters."""
    return text.encode("utf-8")[:LONGEST].decode("utf-8", "ignore")


def sparse(vector: dict[int, float]) -> dict[str, Any]:
    """Columns and weights."""
    return {"indices": list(vector), "values": list(vector.values())}


def parts(rows: Iterator[tuple[str, bool]]) -> Iterator[tuple[list[str], int]]:
    """Rows for one file each, of bounded size, and how many of them were cut."""
    held, size, cut = [], 0, 0
    for row, short in rows:
        held.append(row)
        size, cut = size + len(row), cut + short
        if size > PART:
            yield held, cut
            held, size, cut = [], 0, 0
    if held:
        yield held, cut


def query(form: Form, vector: Vector, k: int = 10) -> dict[str, Any]:
    """The body of ``entities/search``."""
    asked = vector if isinstance(vector, list) else {str(column): weight for column, weight in vector.items()}
    search = {"metricType": "IP", "params": {"drop_ratio_search": 0.0} if form.lexicon else {}}
    name = SPARSE if form.lexicon else DENSE
    return {"collectionName": NAME, "data": [asked], "annsField": name, "limit": k, "outputFields": ["id"], "searchParams": search}
