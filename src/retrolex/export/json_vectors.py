"""One JSON object a line and document, its terms written out: what Anserini (Lucene) and Seismic read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from retrolex.collection import Document
from retrolex.errors import UserError
from retrolex.export.form import Form, Vector, has_space, renamed
from retrolex.export.queries import collection_queries, integers, need_lexicon
from retrolex.export.source import Source
from retrolex.export.vectors import Vectors, open_vectors, scaled

DOCUMENTS, IDS = "documents.jsonl", "ids.txt"
SEISMIC_NAME = 100  # characters of a token in a Seismic query array
ANSERINI = """# For Lucene, through Anserini

{documents:,} documents, weights as integers: {scale:g} times what the model emits.

    java -cp anserini-fatjar.jar io.anserini.index.IndexCollection -collection JsonVectorCollection -input documents \\
        -generator DefaultLuceneDocumentGenerator -index lucene-index -threads 8 -impact -pretokenized
    java -cp anserini-fatjar.jar io.anserini.search.SearchCollection -index lucene-index -topics topics.tsv -topicReader TsvString \\
        -output run.trec -impact -pretokenized -hits 1000

Anserini repeats every token as often as its weight says while it indexes: `--bits 6` makes that several times faster and scores coarser.
"""
SEISMIC = """# For Seismic

{documents:,} documents, weights {scale:g} times what the model emits. Their ids here are numbers: line n of `ids.txt`, counted from 0, is the
id of document n.

    from seismic import SeismicIndex  # of a vocabulary above 65,536 terms: SeismicIndexLV
    index = SeismicIndex.build("documents.jsonl")

`queries.jsonl` holds the collection's queries in the same form; `retrolex.export.queries.query_for("seismic", text, encoder)` makes one of any text.
It asks for every block (`heap_factor` 0); set 0.7 to 1 for speed. Documents are found by their heaviest terms only, `n_postings` a term on average.
"""


def write_json_vectors(
    vectors: Vectors, path: Path, names: Sequence[str], text: str, bits: int | None = None, id_map: Path | None = None
) -> dict[str, Any]:
    """Write the documents; returns counts for a manifest.

    Args:
        vectors: the documents.
        path: the file.
        names: of the terms, by column.
        text: the field for title and text.
        bits: weights are made smaller, if need be, so that the largest fits into so many bits.
        id_map: where to write the ids, one a line, for readers that want numbers; documents keep their ids when not given.
    """
    multiplier = vectors.multiplier(2**bits - 1 if bits else None)
    empty, ids = 0, []
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for row in vectors.rows():
            assert isinstance(row.vector, dict)
            terms = scaled(row.vector, multiplier)
            empty += not terms
            ids.append(row.id)
            contents = Document(row.id, row.title, row.text).full
            line = {"id": row.position if id_map else row.id, text: contents, "vector": {names[column]: weight for column, weight in terms.items()}}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    if id_map:
        write_lines(id_map, ids)
    return {"documents": len(vectors), "without terms": empty, "scale": scale_of(vectors.form, multiplier)}


def scale_of(form: Form, multiplier: float) -> float:
    """What a model's weight was multiplied by on its way into an engine."""
    return multiplier * (100.0 if form.integer else 1.0)


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write lines; returns how many.

    Raises:
        UserError: one has a line break in it.
    """
    count = 0
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            if "\n" in line or "\r" in line:
                raise UserError(f"the id {line!r} has a line break in it, which this format cannot hold", mend="give the document another id")
            file.write(line + "\n")
            count += 1
    return count


def export_anserini(source: Source, folder: Path, bits: int | None = None) -> dict[str, Any]:
    """Write a JsonVectorCollection and topics; returns counts for the manifest.

    Raises:
        UserError: the vectors are dense, or there are no documents.
    """
    vectors = lexicon_only(source, "Anserini")
    (folder / "documents").mkdir(exist_ok=True)
    names = anserini_names(vectors.form)
    counts = write_json_vectors(vectors, folder / "documents" / DOCUMENTS, names, "contents", bits)
    counts |= write_topics(folder / "topics.tsv", "\t", vectors.form, names, collection_queries(source, vectors))
    (folder / "README.md").write_text(ANSERINI.format(**counts), encoding="utf-8")
    return counts


def export_seismic(source: Source, folder: Path, bits: int | None = None) -> dict[str, Any]:
    """Write documents with integer ids, the map of ids, and queries; returns counts for the manifest.

    Raises:
        UserError: the vectors are dense, or there are no documents.
    """
    vectors = lexicon_only(source, "Seismic")
    names = seismic_names(vectors.form)
    counts = write_json_vectors(vectors, folder / DOCUMENTS, names, "content", bits, folder / IDS)
    queries = (
        json.dumps({"id": number, "query_id": id, "vector": {names[c]: w for c, w in integers(vectors.form, vector).items()}}, ensure_ascii=False)
        for number, (id, vector) in enumerate(collection_queries(source, vectors))
    )
    counts["queries"] = write_lines(folder / "queries.jsonl", queries)
    (folder / "README.md").write_text(SEISMIC.format(**counts), encoding="utf-8")
    return counts


def write_topics(path: Path, separator: str, form: Form, names: Sequence[str], queries: Iterable[tuple[str, Vector]]) -> dict[str, int]:
    """Write a query a line; those without terms, which the engines stumble over and which find nothing, are left out and counted."""
    lines, empty = [], 0
    for id, vector in queries:
        words = repeated(form, names, vector)
        empty += not words
        if words:
            lines.append(f"{id}{separator}{words}")
    return {"queries": write_lines(path, lines), "queries without terms": empty}


def lexicon_only(source: Source, target: str) -> Vectors:
    """The vectors of a retriever, refused where they are dense."""
    vectors = open_vectors(source)
    need_lexicon(vectors.form, target)
    return vectors


def anserini_names(form: Form) -> list[str]:
    """Terms as words of a text that is split at white space."""
    return renamed(form.terms, has_space)


def seismic_names(form: Form) -> list[str]:
    """Terms that fit into Seismic's arrays of tokens."""
    return renamed(form.terms, lambda term: len(term) > SEISMIC_NAME)


def repeated(form: Form, names: Sequence[str], vector: Vector) -> str:
    """Every term as often as its weight says, with spaces between."""
    return " ".join(" ".join([names[column]] * weight) for column, weight in integers(form, vector).items())


def anserini_query(form: Form, vector: Vector, k: int = 10) -> str:
    """A topic: every term as often as its weight says."""
    need_lexicon(form, "Anserini")
    return repeated(form, anserini_names(form), vector)


def seismic_query(form: Form, vector: Vector, k: int = 10) -> dict[str, Any]:
    """The arguments of ``SeismicIndex.search``: tokens, numpy strings, and values, float32; no term cut.

    With the heap factor 0 no block of postings is skipped. Any above it, Seismic's usual 0.7 to 1, makes searches faster and approximate:
    a block is skipped by its summary, whose rounded weights may be a little below those of its documents.
    """
    import numpy as np

    need_lexicon(form, "Seismic")
    names, terms = seismic_names(form), integers(form, vector)
    return {
        "query_components": np.array([names[column] for column in terms], dtype=f"U{SEISMIC_NAME}"),
        "query_values": np.array(list(terms.values()), np.float32),
        "k": k,
        "query_cut": len(terms),
        "heap_factor": 0.0,
    }
