"""Qdrant 1.10 or newer: points with a sparse vector of impacts, or a dense one; searches are exact.

Qdrant adds in 32-bit floats: sums of integer impacts stay exact up to 2^24.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.export.engines.http import Server, batches
from retrolex.export.engines.results import Hit, settled
from retrolex.export.form import Form, Vector
from retrolex.export.source import Source
from retrolex.export.vectors import Row, Vectors, open_vectors

SPARSE, DENSE = "terms", "vector"  # names of the vectors
BATCH = 256  # points a request
README = """# For Qdrant

{documents:,} documents. `collection.json` is the body of `PUT /collections/NAME`; each line of `points.jsonl` is the body of one
`PUT /collections/NAME/points`. A point's id is the document's position; its payload holds `id`, `title` and `text`.

    curl -X PUT localhost:6333/collections/NAME -H 'Content-Type: application/json' -d @collection.json
    while read -r line; do
        printf %s "$line" | curl -X PUT 'localhost:6333/collections/NAME/points?wait=true' -H 'Content-Type: application/json' -d @-
    done < points.jsonl

`retrolex export qdrant RUN --to http://localhost:6333/NAME` does the same. `POST /collections/NAME/points/query`
takes what `retrolex.export.queries.query_for("qdrant", text, encoder)` gives.
"""


def export(source: Source, folder: Path) -> dict[str, Any]:
    """Write ``collection.json`` and ``points.jsonl``; returns counts for the manifest.

    Raises:
        UserError: there are no documents.
    """
    vectors = open_vectors(source)
    write_json(folder / "collection.json", collection(vectors.form))
    with open(folder / "points.jsonl", "w", encoding="utf-8", newline="\n") as file:
        for rows in batches(vectors.rows(), BATCH):
            file.write(json.dumps({"points": [point(row) for row in rows]}, ensure_ascii=False) + "\n")
    counts = {"documents": len(vectors)}
    (folder / "README.md").write_text(README.format(**counts), encoding="utf-8")
    return counts


def collection(form: Form) -> dict[str, Any]:
    """The collection's configuration."""
    return {"sparse_vectors": {SPARSE: {}}} if form.lexicon else {"vectors": {DENSE: {"size": form.width, "distance": "Dot"}}}


def point(row: Row) -> dict[str, Any]:
    """One document."""
    payload = {"id": row.id, "title": row.title, "text": row.text}
    named = {DENSE: row.vector} if isinstance(row.vector, list) else {SPARSE: sparse(row.vector)}
    return {"id": row.position, "vector": named, "payload": payload}


def sparse(vector: dict[int, float]) -> dict[str, Any]:
    """Columns and weights."""
    return {"indices": list(vector), "values": list(vector.values())}


def query(form: Form, vector: Vector, k: int = 10) -> dict[str, Any]:
    """The body of ``points/query``."""
    asked = vector if isinstance(vector, list) else sparse(vector)
    body: dict[str, Any] = {"query": asked, "using": SPARSE if form.lexicon else DENSE, "limit": k, "with_payload": ["id"]}
    return body if form.lexicon else body | {"params": {"exact": True}}


def load(vectors: Vectors, url: str) -> int:
    """Make and fill a collection, which is removed again where that fails. Returns the number of documents.

    Args:
        vectors: the documents.
        url: ``http://host:6333/collection``.

    Raises:
        UserError: no server, it refuses, or the collection is there already.
    """
    server = connect(url)
    path = f"/collections/{server.name}"
    if server.call("GET", path, missing=True) is not None:
        raise UserError("the collection is there already", where=server.place, mend="choose another name, or delete it")
    server.call("PUT", path, collection(vectors.form))
    try:
        for rows in batches(vectors.rows("Loading"), BATCH):
            server.call("PUT", f"{path}/points?wait=true", {"points": [point(row) for row in rows]})
        count = server.call("POST", f"{path}/points/count", {"exact": True})["result"]["count"]
        if count != len(vectors):
            raise vectors.uneven(f"{count:,}")
    except BaseException:
        server.call("DELETE", path)
        raise
    return count


def search(url: str, form: Form, queries: Sequence[Vector], k: int) -> list[list[tuple[str, float]]]:
    """The best `k` documents of each query.

    Raises:
        UserError: no server, or no such collection.
    """
    server = connect(url)

    def ask(vector: Vector, limit: int) -> list[Hit]:
        points = server.call("POST", f"/collections/{server.name}/points/query", query(form, vector, limit))["result"]["points"]
        return [Hit(point["payload"]["id"], point["id"], point["score"]) for point in points]

    # Qdrant refuses a query without terms, which finds nothing.
    return [settled(partial(ask, vector), k) if vector else [] for vector in queries]


def connect(url: str) -> Server:
    """The server of an address."""
    return Server(url, ("api-key", ""))
