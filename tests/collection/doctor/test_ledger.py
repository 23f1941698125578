"""Hashes and places in flat arrays, against dictionaries."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from retrolex.collection.doctor.ledger import Ledger, Rows, hash_of, loose, text_hash
from retrolex.collection.documents import Document
from retrolex.collection.readers.records import Place

ids = st.lists(st.text("ab01 ", min_size=1, max_size=3), max_size=30)


def filled(ids: list[str]) -> Rows:
    rows = Rows()
    for number, id in enumerate(ids):
        rows.add(Document(id, "", id), number)
    return rows


@given(ids=ids, wanted=st.text("ab01 ", min_size=1, max_size=3))
def test_find_is_the_first_with_this_id(ids, wanted):
    assert filled(ids).find("ids", hash_of(wanted)) == (ids.index(wanted) if wanted in ids else None)


@given(ids=ids)
def test_repeats_are_all_but_the_first(ids):
    assert list(filled(ids).repeats("ids")) == [(row, ids.index(id)) for row, id in enumerate(ids) if id in ids[:row]]


@given(ids=ids)
def test_empty_texts_are_no_repeats(ids):
    texts = [" ".join(id.split()) for id in ids]
    assert list(filled(ids).repeats("whole")) == [(row, texts.index(text)) for row, text in enumerate(texts) if text and text in texts[:row]]


def test_a_row_added_later_is_found():
    rows = filled(["a"])
    assert rows.find("ids", hash_of("b")) is None
    rows.add(Document("b", "", "text"), 7)
    assert rows.find("ids", hash_of("b")) == 1


def test_what_counts_as_the_same():
    assert text_hash("A  b\n") == text_hash("a b") != text_hash("ab") and text_hash(" \n") == text_hash("") == 0
    assert [loose(id) for id in ("007", "7 ", "0", "000", "0x7", "a 07")] == ["7", "7", "0", "0", "0x7", "a 07"]


@given(files=st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(1, (1 << 40) - 1))))
def test_places_come_back(files):
    ledger = Ledger()
    for file, line in files:
        ledger.add(Document("1", "", ""), Place(file, line))
    assert [ledger.place(number) for number in ledger.documents.places] == files


def test_memory_holds_no_text():
    text = "a word and another " * 50
    tracemalloc.start()
    ledger = Ledger()
    for number in range(10_000):
        ledger.add(Document(str(number), "", f"{number} {text}"), Place("corpus.jsonl", number + 1))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 100 * 10_000  # bytes: six numbers a row, and what the arrays hold in reserve; the texts would take ten times as much
