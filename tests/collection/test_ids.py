"""Ids in eight bytes each, against a set; and an import whose memory does not grow with the collection."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrolex.collection import Document, Judgment, Query, import_collection
from retrolex.collection import ids as ids_module
from retrolex.collection.ids import Ids
from retrolex.collection.readers import READERS
from retrolex.collection.readers.records import Found, Place, Reader
from retrolex.errors import UserError


@given(st.lists(st.text(max_size=2)), st.text(max_size=2))
def test_as_a_set_has_it(values, other):
    ids = Ids()
    for number, value in enumerate(values):
        ids.add(value)
        assert value in ids and len(ids) == number + 1
    assert (other in ids) == (other in set(values))
    assert ids.repeated() == {hash(value) for value, count in Counter(values).items() if count > 1}


@pytest.fixture
def made(monkeypatch):
    """A function: records -> a source whose reader yields them, one at a time."""

    def do(records) -> str:
        reader = Reader("made up", lambda _: [], lambda *_: (Found(item, Place("made", number)) for number, item in enumerate(records(), 1)))
        monkeypatch.setitem(READERS, "made", reader)
        return "made"

    return do


def test_equal_hashes_of_unequal_ids_are_no_duplicates(made, tmp_path, monkeypatch):
    monkeypatch.setattr(ids_module, "hash", lambda id: len(id), raising=False)
    monkeypatch.setattr("retrolex.collection.importing.hash", lambda id: len(id), raising=False)
    source = made(lambda: (Document(id, "", "x") for id in ("a", "b", "cc")))
    assert import_collection(source, tmp_path, reader="made")["documents"] == 3
    source = made(lambda: (Document(id, "", "x") for id in ("a", "b", "b")))
    with pytest.raises(UserError, match="made:3: the id 'b' has occurred before, at made:2"):
        import_collection(source, tmp_path, reader="made")


def peak_of_importing(made, folder, count: int) -> int:
    """Bytes that Python holds at most while it imports so many tiny documents, and a judged query for every thousandth."""

    def records():
        yield from (Document(f"document-{i}", "", "tiny") for i in range(count))
        yield from (Query(f"q{i}", "tiny?") for i in range(20))
        yield from (Judgment("test", f"q{i}", f"document-{i}", 1) for i in range(20))

    source = made(records)
    folder.mkdir()
    tracemalloc.start()
    counts = import_collection(source, folder, reader="made")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts["documents"] == count and counts["warnings"] == 0
    return peak


def test_memory_of_an_import_does_not_grow_with_the_collection(made, tmp_path):
    """Ten times the documents cost 8 bytes each while reading and as many again for sorting; as Python strings they would cost a hundred."""
    small, large = (peak_of_importing(made, tmp_path / str(count), count) for count in (20_000, 200_000))
    assert large - small < 180_000 * 20
