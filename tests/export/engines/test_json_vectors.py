"""Anserini's and Seismic's documents; Seismic loads its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from retrolex.errors import UserError
from retrolex.export.form import Form
from retrolex.export.json_vectors import anserini_query, export_anserini, export_seismic, seismic_query
from retrolex.export.queries import collection_queries
from retrolex.export.source import Source
from retrolex.export.vectors import open_vectors
from retrolex.index.base import Run


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_anserini_documents_have_ids_contents_and_integer_weights(lexicon: Source, tmp_path: Path) -> None:
    counts = export_anserini(lexicon, tmp_path)
    vectors = open_vectors(lexicon)
    lines = read_lines(tmp_path / "documents" / "documents.jsonl")
    for line, row in zip(lines, vectors.rows(), strict=True):
        assert (line["id"], line["contents"]) == (row.id, f"{row.title} {row.text}".strip())
        assert line["vector"] == {vectors.form.terms[column]: weight for column, weight in row.vector.items()}
        assert all(type(weight) is int and weight > 0 for weight in line["vector"].values())
    assert (counts["documents"], counts["scale"]) == (300, 100.0)
    assert counts["without terms"] == sum(not line["vector"] for line in lines) > 0
    assert counts["queries"] + counts["queries without terms"] == 100
    assert "{" not in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_topics_repeat_terms_by_weight(lexicon: Source, tmp_path: Path) -> None:
    export_anserini(lexicon, tmp_path)
    vectors = open_vectors(lexicon)
    asked = [(id, vector) for id, vector in collection_queries(lexicon, vectors) if vector]
    for line, (id, vector) in zip((tmp_path / "topics.tsv").read_text(encoding="utf-8").splitlines(), asked, strict=True):
        name, words = line.split("\t")
        assert name == id
        counted = {term: words.split(" ").count(term) for term in words.split(" ")}
        assert counted == {vectors.form.terms[column]: weight for column, weight in vector.items()}


def test_bits_bound_the_weights_and_the_scale_is_stated(lexicon: Source, tmp_path: Path) -> None:
    largest = open_vectors(lexicon).largest()
    counts = export_anserini(lexicon, tmp_path, bits=6)
    weights = [weight for line in read_lines(tmp_path / "documents" / "documents.jsonl") for weight in line["vector"].values()]
    assert max(weights) == 63
    assert counts["scale"] == pytest.approx(100 * 63 / largest)


def test_terms_that_no_word_can_be_are_renamed_in_documents_and_topics_alike() -> None:
    form = Form("lexicon", 4, ["wing", "a b", "x" * 300, "\u3000"])
    assert anserini_query(form, {0: 1, 1: 2, 2: 1, 3: 1}) == "wing [1] [1] [2] [3]"


def test_dense_vectors_are_refused(dense: Source, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="searches by terms"):
        export_anserini(dense, tmp_path)


def test_seismic_ids_are_numbers_with_a_map(lexicon: Source, tmp_path: Path) -> None:
    export_seismic(lexicon, tmp_path)
    lines = read_lines(tmp_path / "documents.jsonl")
    assert [line["id"] for line in lines] == list(range(300))
    assert (tmp_path / "ids.txt").read_text(encoding="utf-8").splitlines() == [row.id for row in open_vectors(lexicon).rows()]
    assert set(lines[0]) == {"id", "content", "vector"}
    assert len(read_lines(tmp_path / "queries.jsonl")) == 100


def test_seismic_finds_what_the_embedded_index_finds(lexicon: Source, wanted: Callable[[Source, int], Run], tmp_path: Path) -> None:
    """With all postings and no block skipped it is exact; where it skips blocks, scores are right and a hit may be missed."""
    seismic = pytest.importorskip("seismic", reason="needs Seismic: pip install pyseismic-lsr (3 MB, Linux)")
    export_seismic(lexicon, tmp_path)
    ids = (tmp_path / "ids.txt").read_text(encoding="utf-8").splitlines()
    index = seismic.SeismicIndex.build(str(tmp_path / "documents.jsonl"), n_postings=300, centroid_fraction=1.0, summary_energy=1.0, num_threads=1)
    vectors, own, every, missed = open_vectors(lexicon), wanted(lexicon, 10), wanted(lexicon, 300), 0
    asked = {id: vector for id, vector in collection_queries(lexicon, vectors) if vector}
    for id, vector in asked.items():
        query = seismic_query(vectors.form, vector, 10)
        found = [(ids[int(document)], score) for _, score, document in index.search(id, **query)]
        assert [score for _, score in found] == [score for _, score in own[id]]
        certain = own[id][-1][1] if len(own[id]) == 10 else 0  # of documents with the last score it may choose others
        assert {hit for hit in found if hit[1] > certain} == {hit for hit in own[id] if hit[1] > certain}
        skipping = [(ids[int(document)], score) for _, score, document in index.search(id, **query | {"heap_factor": 1.0})]
        scores = dict(every[id])
        assert all(scores[name] == score for name, score in skipping)
        missed += sum((Counter(score for _, score in own[id]) - Counter(score for _, score in skipping)).values())
    assert len(asked) > 50 and missed <= 0.01 * sum(len(own[id]) for id in asked)
