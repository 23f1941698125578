from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.artifacts import Stage, content_hash, read_manifest
from retrolex.collection import Collection, Document, import_collection, source_fingerprint
from retrolex.collection import arrow as arrow_module
from retrolex.collection.arrow import DOCUMENTS, QRELS, QUERIES, TableWriter
from retrolex.errors import UserError


def store(folder, documents):
    """Write documents, no queries, no judgments."""
    with TableWriter(folder, DOCUMENTS) as table, TableWriter(folder, QUERIES), TableWriter(folder, QRELS):
        for document in documents:
            table.add(document)
    return Collection.open(folder)


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(arrow_module, "BATCH_ROWS", 3)


@pytest.mark.parametrize("count", [0, 1, 3, 7])
def test_positions_slices_and_ids_agree_with_a_list(tmp_path, small_batches, count):
    documents = [Document(f"d{i}", "t" * i, f"text {i}") for i in range(count)]
    collection = store(tmp_path, documents)
    assert len(collection) == count
    assert list(collection) == documents
    assert [collection[i] for i in range(count)] == documents
    assert collection.ids == [document.id for document in documents]
    assert [collection.position(document.id) for document in documents] == list(range(count))
    for start in range(count + 1):
        for stop in range(count + 2):
            assert list(collection.documents(start, stop)) == documents[start:stop]
    assert collection.queries == {} and collection.splits == []


def test_outside_and_unknown(tmp_path):
    collection = store(tmp_path, [Document("a", "", "x")])
    with pytest.raises(IndexError):
        collection[1]
    with pytest.raises(KeyError):
        collection.position("b")
    assert "a" in collection and "b" not in collection
    with pytest.raises(UserError, match="no judgments for the split 'test'"):
        collection.qrels("test")


def test_long_documents_close_a_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_module, "BATCH_CHARACTERS", 10)
    collection = store(tmp_path, [Document(str(i), "", "x" * 8) for i in range(6)])
    assert len(collection._batches) == 3


@settings(deadline=None)
@given(texts=st.lists(st.text(), max_size=20))
def test_any_text_comes_back_as_it_went_in(tmp_path_factory, texts):
    documents = [Document(f"{i}\t{text}", text, text[::-1]) for i, text in enumerate(texts)]
    assert list(store(tmp_path_factory.mktemp("any"), documents)) == documents


def test_not_a_collection(tmp_path):
    with pytest.raises(UserError, match=r"documents\.arrow is missing"):
        Collection.open(tmp_path)
    (tmp_path / "documents.arrow").write_bytes(b"ARROW1 and then nothing of the kind")
    with pytest.raises(UserError, match="damaged"):
        Collection.open(tmp_path)


def test_queries_and_judgments(write, importing):
    write("c/corpus.jsonl", '{"_id": "d1", "text": "one"}\n{"_id": "d2", "text": "two"}\n')
    write("c/queries.jsonl", '{"_id": "q2", "text": "b"}\n{"_id": "q1", "text": "a"}\n')
    write("c/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td2\t2\nq1\td1\t0\nq2\td1\t1\n")
    source = write("c/qrels/dev.tsv", "q2\td2\t-1\n").parent.parent
    collection = importing(source).collection
    assert list(collection.queries.items()) == [("q2", "b"), ("q1", "a")]
    assert collection.splits == ["dev", "test"]
    assert collection.qrels("test") == {"q1": {"d2": 2, "d1": 0}, "q2": {"d1": 1}}
    assert collection.qrels("dev") == {"q2": {"d2": -1}}


def test_equal_sources_give_equal_bytes_wherever_they_lie(tmp_path):
    rows = '{"_id": "1", "text": "one"}\n{"_id": "2", "text": ["a list"]}\n'
    hashes = set()
    for name in ("a", "b/deeper"):
        (tmp_path / name).mkdir(parents=True)
        source = tmp_path / name / "rows.jsonl"
        source.write_text(rows, encoding="utf-8")
        stage = Stage("collection", tmp_path / name / "out", config={"source": source_fingerprint(source)})
        assert stage.run(lambda folder, source=source: import_collection(source, folder))
        assert not stage.run(lambda folder: pytest.fail("nothing has changed"))
        hashes.add((content_hash(stage.folder), stage.key()))
    assert len(hashes) == 1
    assert read_manifest(stage.folder)["counts"]["rejects"] == 1


def test_a_bad_source_leaves_nothing_behind(tmp_path, write):
    source = write("rows.jsonl", '{"_id": "1", "text": "one"}\n{oops\n')
    with pytest.raises(UserError):
        Stage("collection", tmp_path / "out").run(lambda folder: import_collection(source, folder))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl"]


def test_a_changed_source_has_another_fingerprint(write):
    source = write("rows.jsonl", '{"_id": "1", "text": "one"}\n')
    before = source_fingerprint(source)
    assert set(before["files"]) == {"rows.jsonl"}
    write("rows.jsonl", '{"_id": "1", "text": "two"}\n')
    assert source_fingerprint(source) != before


def test_fingerprint_of_many_files_is_short(write):
    for i in range(100):
        folder = write(f"texts/{i}.txt", f"text {i}").parent
    before = source_fingerprint(folder)
    assert before["files"] == 100 and len(json.dumps(before)) < 300
    write("texts/7.txt", "another")
    assert source_fingerprint(folder) != before
