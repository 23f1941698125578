"""Damaged and foreign folders are refused, or at worst give other results: never a crash."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from lexicon_twin import as_lists, names, random_rows
from scipy import sparse

from retrolex.errors import UserError
from retrolex.index.lexicon import LexiconIndex, native, storage


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound") / "index"
    rng = np.random.default_rng(5)
    LexiconIndex.build(folder, names(700), random_rows(rng, 700, 15, levels=np.arange(1, 600)))
    return folder


QUERIES = random_rows(np.random.default_rng(6), 5, 15, levels=np.arange(1, 300))


def test_opened_again_it_gives_the_same(sound):
    one, two = LexiconIndex.open(sound), LexiconIndex.open(sound)
    two.verify()
    assert as_lists(one.search(QUERIES, 50)) == as_lists(two.search(QUERIES, 50))
    assert one.bytes == sum(path.stat().st_size for path in sound.iterdir()) - (sound / "index.json").stat().st_size
    assert len(one) == len(one.ids) == 700


@pytest.mark.parametrize("name", [storage.HEADER, storage.IDS, *(f"{name}.npy" for name in storage.array_types("floor"))])
def test_every_file_is_guarded(sound, tmp_path, name):
    for how in ("missing", "empty", "short", "long", "altered"):
        folder = tmp_path / how
        shutil.copytree(sound, folder)
        path, whole = folder / name, (sound / name).read_bytes()
        middle = len(whole) // 2
        if how == "missing":
            path.unlink()
        else:
            parts = {
                "empty": b"",
                "short": whole[:-1],
                "long": whole + b"\0",
                "altered": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            }
            path.write_bytes(parts[how])
        if name == storage.HEADER and how in ("short", "long"):  # a newline less, or a zero byte more
            continue
        with pytest.raises(UserError):
            LexiconIndex.open(folder).verify()


def test_altered_behind_the_hashes_never_crashes(sound, tmp_path, monkeypatch):
    """Arrays too large to be hashed on opening, with bytes changed at random: refused, or searched without leaving the arrays."""
    monkeypatch.setattr(storage, "HASHED_ON_OPENING", -1)
    rng = np.random.default_rng(7)
    opened = 0
    for attempt in range(150):
        name = list(storage.array_types("floor"))[attempt % len(storage.array_types("floor"))]
        folder = tmp_path / str(attempt)
        shutil.copytree(sound, folder)
        content = bytearray((folder / f"{name}.npy").read_bytes())
        for place in rng.integers(storage.NPY_HEADER_BYTES, len(content), 20):
            content[place] = rng.integers(256)
        (folder / f"{name}.npy").write_bytes(content)
        for kernel in native.available()[:-1]:
            try:
                index = LexiconIndex.open(folder, kernel)
            except UserError:
                break
            opened += 1
            for positions, _ in index.search(QUERIES, 20):
                assert ((positions >= 0) & (positions < 700)).all()
        shutil.rmtree(folder)
    assert opened > 50


def test_foreign_folders(tmp_path, sound):
    with pytest.raises(UserError, match=r"index\.json is missing"):
        LexiconIndex.open(tmp_path / "nowhere")
    cases = {
        "[]": "not a lexicon index",
        "{": "not readable as JSON",
        json.dumps({"format": "faiss"}): "not a lexicon index",
        json.dumps({"format": storage.FORMAT, "version": 99}): "of version 99; this retrolex reads version 1",
        json.dumps({"format": storage.FORMAT, "version": 1, "weights": "floor"}): "fields are missing or wrong",
    }
    for text, message in cases.items():
        (tmp_path / storage.HEADER).write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match=message):
            LexiconIndex.open(tmp_path)


def test_an_array_of_another_type(sound, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "HASHED_ON_OPENING", -1)
    folder = tmp_path / "i"
    shutil.copytree(sound, folder)
    content = (folder / "offsets.npy").read_bytes()
    (folder / "offsets.npy").write_bytes(content.replace(b"'<u2'", b"'<i2'"))
    with pytest.raises(UserError, match="holds int16"):
        LexiconIndex.open(folder)
    (folder / "offsets.npy").write_bytes(content.replace(b"NUMPY", b"NIMPY"))
    with pytest.raises(UserError, match=r"not a \.npy file"):
        LexiconIndex.open(folder)


def test_golden_header(tmp_path):
    """The documented form (docs/index-format.md) of the smallest index; a change here is a change of the format's version."""
    LexiconIndex.build(tmp_path / "i", ["x"], sparse.csr_array([[0.0, 1.0, 3.0]]))
    header = json.loads((tmp_path / "i" / "index.json").read_text(encoding="utf-8"))
    assert {key: header[key] for key in ("format", "version", "weights", "documents", "terms")} == {
        "format": "retrolex-lexicon",
        "version": 1,
        "weights": "floor",
        "documents": 1,
        "terms": 3,
    }
    arrays = {name: np.load(tmp_path / "i" / f"{name}.npy").tolist() for name in storage.array_types("floor")}
    none = 0xFFFF_FFFF
    assert arrays == {
        "block_table": [0, 0, 0, 2, 1, 0],
        "directory": [0, 0, none, 0, 0, none, 1, 0, none, 2, 1, none],
        "list_documents": [0, 0],
        "list_impacts": [100, 255],
        "overflow_documents": [0],
        "overflow_impacts": [45],
        "column_pointers": [0],
        "bitmaps": [],
        "offsets": [],
        "group_maxima": [],
        "frequent_impacts": [0] * 64,
        "term_maxima": [0, 100, 300],
    }
