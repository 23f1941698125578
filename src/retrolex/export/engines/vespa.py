"""Vespa 8: a schema and a feed. Terms are a weighted set that ``wand`` searches exactly; dense vectors a tensor, compared one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from retrolex.export.form import Form, Vector
from retrolex.export.queries import integers
from retrolex.export.source import Source
from retrolex.export.vectors import Row, open_vectors, scaled

TYPE = "doc"  # the document type, and namespace of ids
LEXICON_FIELD = """
        field terms type weightedset<string> {
            indexing: attribute
            attribute: fast-search
            match: cased
            dictionary {
                hash
                cased
            }
        }"""
DENSE_FIELD = """
        field vector type tensor<float>(x[%d]) {
            indexing: attribute
            attribute {
                distance-metric: dotproduct
            }
        }"""
LEXICON_PROFILE = """
    rank-profile terms {
        first-phase {
            expression: rawScore(terms)
        }
    }"""
DENSE_PROFILE = """
    rank-profile vector {
        inputs {
            query(q) tensor<float>(x[%d])
        }
        first-phase {
            expression: sum(query(q) * attribute(vector))
        }
    }"""
SCHEMA = """schema doc {
    document doc {
        field id type string {
            indexing: attribute | summary
            match: cased
        }
        field title type string {
            indexing: summary
        }
        field text type string {
            indexing: summary
        }%s
    }%s
}
"""
SERVICES = """<?xml version="1.0" encoding="utf-8" ?>
<services version="1.0">
  <container id="default" version="1.0">
    <search/>
    <document-api/>
  </container>
  <content id="content" version="1.0">
    <min-redundancy>1</min-redundancy>
    <documents>
      <document type="doc" mode="index"/>
    </documents>
    <nodes>
      <node distribution-key="0" hostalias="node1"/>
    </nodes>
  </content>
</services>
"""
README = """# For Vespa

{documents:,} documents.

    vespa deploy application
    vespa feed documents.jsonl

`retrolex.export.queries.query_for("vespa", text, encoder)` is the body of `POST /search/`.
"""


def export(source: Source, folder: Path) -> dict[str, Any]:
    """Write an application and ``documents.jsonl``; returns counts for the manifest.

    Raises:
        UserError: there are no documents.
    """
    vectors = open_vectors(source)
    multiplier = vectors.multiplier() if vectors.form.lexicon else 1.0
    (folder / "application" / "schemas").mkdir(parents=True, exist_ok=True)
    (folder / "application" / "services.xml").write_text(SERVICES, encoding="utf-8")
    (folder / "application" / "schemas" / "doc.sd").write_text(schema(vectors.form), encoding="utf-8")
    with open(folder / "documents.jsonl", "w", encoding="utf-8", newline="\n") as file:
        for row in vectors.rows():
            file.write(json.dumps(put(vectors.form, row, multiplier), ensure_ascii=False) + "\n")
    counts = {"documents": len(vectors)}
    (folder / "README.md").write_text(README.format(**counts), encoding="utf-8")
    return counts


def schema(form: Form) -> str:
    """The document type, with the rank profile that scores as the embedded index does."""
    if form.lexicon:
        return SCHEMA % (LEXICON_FIELD, LEXICON_PROFILE)
    return SCHEMA % (DENSE_FIELD % form.width, DENSE_PROFILE % form.width)


def put(form: Form, row: Row, multiplier: float) -> dict[str, Any]:
    """One operation of the feed."""
    fields: dict[str, Any] = {"id": row.id, "title": clean(row.title), "text": clean(row.text)}
    if isinstance(row.vector, list):
        fields["vector"] = row.vector
    else:
        fields["terms"] = {form.terms[column]: weight for column, weight in scaled(row.vector, multiplier).items()}
    return {"put": f"id:{TYPE}:{TYPE}::{quote(row.id, safe='')}", "fields": fields}


def clean(text: str) -> str:
    """Text without the control characters that Vespa's strings refuse: U+FFFD stands for each."""
    return "".join(character if character >= " " or character in "\t\n\r" else "\ufffd" for character in text)


def query(form: Form, vector: Vector, k: int = 10) -> dict[str, Any]:
    """The body of ``/search/``."""
    asked: dict[str, Any] = {"hits": k, "presentation.summary": "default"}
    if isinstance(vector, list):
        near = f"({{targetHits: {k}, approximate: false}}nearestNeighbor(vector, q))"
        return asked | {"yql": f"select id, title from {TYPE} where {near}", "ranking": "vector", "input.query(q)": vector}
    terms = {form.terms[column]: weight for column, weight in integers(form, vector).items()}
    wand = f"({{targetHits: {k}}}wand(terms, {json.dumps(terms, ensure_ascii=False)}))"
    return asked | {"yql": f"select id, title from {TYPE} where {wand}", "ranking": "terms"}
