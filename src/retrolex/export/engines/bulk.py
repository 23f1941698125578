"""What OpenSearch and Elasticsearch share: the bulk API, the index's description, loading, and scores.

Both keep term weights with 9 significant bits, so that integers are exact up to 512; where an index has larger ones, all are made
smaller by one factor, which the mapping states. Query weights are sent as q/100, because the engines refuse any above 64. The
engines score in 32-bit floats: rounding gives the embedded index's integer scores back up to about two million.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.export.engines.http import Server
from retrolex.export.engines.results import Hit, inner_product, settled
from retrolex.export.form import Form, Terms, Vector, has_dot, renamed
from retrolex.export.source import Source
from retrolex.export.vectors import Row, Vectors, open_vectors, scaled

LARGEST = 512  # integer that 9 significant bits hold, with all below it
HUNDREDTHS = 100.0  # query impacts are sent as hundredths
WINDOW = 10_000  # hits that the engines give at most
PART = 32 << 20  # bytes of a bulk request; the engines take 100 MB
FIELDS = {"id": {"type": "keyword"}, "position": {"type": "integer"}, "title": {"type": "text"}, "text": {"type": "text"}}
TERMS, VECTOR = "terms", "vector"  # names of the fields
README = """# For {engine}

{documents:,} documents. `index.json` is the body of `PUT /NAME`; each `documents-*.ndjson` is one bulk request.

    curl -X PUT localhost:9200/NAME -H 'Content-Type: application/json' -d @index.json
    for part in documents-*.ndjson; do
        curl -X POST localhost:9200/NAME/_bulk -H 'Content-Type: application/x-ndjson' --data-binary @$part
    done

`retrolex export {target} RUN --to http://localhost:9200/NAME` does the same. `POST /NAME/_search` takes
what `retrolex.export.queries.query_for("{target}", text, encoder)` gives;
`retrolex search RUN QUERY --backend {target} http://localhost:9200/NAME` sends it.
{scale}
"""


@dataclass(frozen=True)
class Engine:
    """Where the two differ.

    Attributes:
        name: the target's.
        title: as people write it.
        field: the vectors' mapping.
        query: the body of a search.
    """

    name: str
    title: str
    field: Callable[[Form], dict[str, Any]]
    query: Callable[[Form, Vector, int], dict[str, Any]]

    def export(self, source: Source, folder: Path) -> dict[str, Any]:
        """Write ``index.json`` and bulk requests; returns counts for the manifest."""
        vectors = open_vectors(source)
        multiplier = multiplier_of(vectors)
        write_json(folder / "index.json", self.index(vectors.form, multiplier))
        for number, part in enumerate(requests(vectors, multiplier)):
            (folder / f"documents-{number:05d}.ndjson").write_bytes(part)
        scale = multiplier * (HUNDREDTHS if vectors.form.integer else 1.0)
        counts = {"documents": len(vectors)} | ({"scale": scale} if vectors.form.lexicon else {})
        said = f"\nDocument weights are {scale:g} times what the model emits, as integers up to {LARGEST}." if vectors.form.lexicon else ""
        text = README.format(engine=self.title, target=self.name, documents=len(vectors), scale=said)
        (folder / "README.md").write_text(text, encoding="utf-8")
        return counts

    def index(self, form: Form, multiplier: float) -> dict[str, Any]:
        """The index's description."""
        properties = FIELDS | {TERMS if form.lexicon else VECTOR: self.field(form)}
        meta = {"retrolex": {"representation": form.representation, "width": form.width, "multiplier": multiplier}}
        return {"mappings": {"dynamic": "strict", "_meta": meta, "properties": properties}}

    def load(self, vectors: Vectors, url: str) -> int:
        """Make and fill an index, which is removed again where that fails. Returns the number of documents.

        Args:
            vectors: the documents.
            url: ``http://host:9200/index``.

        Raises:
            UserError: no server, it refuses, or the index is there already.
        """
        server, multiplier = connect(url), multiplier_of(vectors)
        if server.call("GET", f"/{server.name}", missing=True) is not None:
            raise UserError("the index is there already", where=server.place, mend="choose another name, or delete it")
        server.call("PUT", f"/{server.name}", self.index(vectors.form, multiplier))
        try:
            for part in requests(vectors, multiplier):
                accepted(server, server.call("POST", f"/{server.name}/_bulk", part))
            server.call("POST", f"/{server.name}/_refresh")
            count = server.call("GET", f"/{server.name}/_count")["count"]
            if count != len(vectors):
                raise vectors.uneven(f"{count:,}")
        except BaseException:
            server.call("DELETE", f"/{server.name}", missing=True)
            raise
        return count

    def search(self, url: str, form: Form, queries: Sequence[Vector], k: int) -> list[list[tuple[str, float]]]:
        """The best `k` documents of each query.

        Raises:
            UserError: no server, no such index, or one that other vectors were loaded into.
        """
        server = connect(url)
        multiplier = loaded(server, form)

        def ask(vector: Vector, limit: int) -> list[Hit]:
            hits = server.call("POST", f"/{server.name}/_search", self.query(form, vector, limit))["hits"]["hits"]
            return [Hit(hit["_source"]["id"], hit["_source"]["position"], own_score(form, hit["_score"], multiplier)) for hit in hits]

        return [settled(partial(ask, vector), k, WINDOW) if vector else [] for vector in queries]  # without terms nothing is found


def multiplier_of(vectors: Vectors) -> float:
    """What document weights are multiplied by; 1 for dense vectors."""
    return vectors.multiplier(LARGEST) if vectors.form.lexicon else 1.0


def requests(vectors: Vectors, multiplier: float) -> Iterator[bytes]:
    """Bulk requests of bounded size: for every document a line that says what to do, and a line of its fields."""
    names, lines, size = field_names(vectors.form), [], 0
    for row in vectors.rows():
        action = json.dumps({"index": {"_id": str(row.position)}})
        lines.append(f"{action}\n{json.dumps(document(row, names, multiplier), ensure_ascii=False)}\n".encode())
        size += len(lines[-1])
        if size > PART:
            yield b"".join(lines)
            lines, size = [], 0
    if lines:
        yield b"".join(lines)


def document(row: Row, names: Sequence[str], multiplier: float) -> dict[str, Any]:
    """One document's fields; one without terms has no field of terms."""
    fields: dict[str, Any] = {"id": row.id, "position": row.position, "title": row.title, "text": row.text}
    if isinstance(row.vector, list):
        return fields | {VECTOR: row.vector}
    terms = {names[column]: weight for column, weight in scaled(row.vector, multiplier).items()}
    return fields | ({TERMS: terms} if terms else {})


def field_names(form: Form) -> list[str]:
    """Terms as names of features: the engines refuse a dot in them."""
    return renamed(form.terms, has_dot)


def query_weights(form: Form, vector: Terms) -> dict[str, float]:
    """Terms with the weights that the model emits: impacts as hundredths."""
    names = field_names(form)
    return {names[column]: weight / (HUNDREDTHS if form.integer else 1.0) for column, weight in vector.items()}


def envelope(query: dict[str, Any], k: int) -> dict[str, Any]:
    """The body of a search around its query: what comes back, and in which order."""
    return {"size": k, "_source": ["id", "position"], **query, "sort": [{"_score": "desc"}, {"position": "asc"}]}


def own_score(form: Form, score: float, multiplier: float) -> float:
    """The embedded index's score behind the engine's."""
    if not form.lexicon:
        return inner_product(score)
    own = score * (HUNDREDTHS if form.integer else 1.0) / multiplier
    return float(round(own)) if multiplier == 1 else own


def accepted(server: Server, answer: dict[str, Any]) -> None:
    """Refuse an answer to a bulk request in which a document was refused.

    Raises:
        UserError: says the first reason.
    """
    if answer["errors"]:
        first = next(item["index"] for item in answer["items"] if "error" in item["index"])
        raise UserError(f"document number {first['_id']} was refused: {first['error'].get('reason', first['error'])}", where=server.place)


def loaded(server: Server, form: Form) -> float:
    """The multiplier that an index states.

    Raises:
        UserError: it states other vectors, or none.
    """
    described = next(iter(server.call("GET", f"/{server.name}/_mapping").values()))["mappings"].get("_meta", {}).get("retrolex", {})
    if (described.get("representation"), described.get("width")) != (form.representation, form.width):
        raise UserError(f"holds no {form.representation} vectors of {form.width:,} columns that retrolex loaded", where=server.place)
    return described["multiplier"]


def connect(url: str) -> Server:
    """The server of an address."""
    return Server(url, ("Authorization", "ApiKey "))
