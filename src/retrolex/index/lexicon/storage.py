"""The index's folder: arrays as .npy files, document ids, and ``index.json``, which states them all (docs/index-format.md)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from retrolex.artifacts import sha256, write_json
from retrolex.errors import UserError

FORMAT, VERSION = "retrolex-lexicon", 1
HEADER, IDS = "index.json", "ids.json"
NPY_HEADER_BYTES = 128
HASHED_ON_OPENING = 1 << 20  # bytes: files up to here are hashed when an index is opened, larger ones by verify()

BLOCK = 65_536  # documents
GROUP = 64  # documents
PADDING = 64  # bytes after the last frequent impact
NONE = 0xFFFF_FFFF

COMMON = {"block_table": "<i8", "directory": "<u4", "list_documents": "<u2"}
INTEGER = {
    "list_impacts": "|u1",
    "overflow_documents": "<u2",
    "overflow_impacts": "<u2",
    "column_pointers": "<i8",
    "bitmaps": "<u8",
    "offsets": "<u2",
    "group_maxima": "|u1",
    "frequent_impacts": "|u1",
    "term_maxima": "<u2",
}
FLOAT = {"list_weights": "<f4"}


def array_types(weights: str) -> dict[str, str]:
    """Name -> dtype of the arrays that an index with these weights has."""
    return COMMON | (FLOAT if weights == "float" else INTEGER)


class Appender:
    """A one-dimensional .npy file that grows: the header, whose length is fixed, is written when the length is known."""

    def __init__(self, path: Path, dtype: str):
        self.dtype, self.length = np.dtype(dtype), 0
        self._file: BinaryIO = open(path, "wb")  # noqa: SIM115 (closed by close())
        self._file.write(bytes(NPY_HEADER_BYTES))

    def append(self, array: np.ndarray) -> None:
        """Add the array's elements, in C order; the values must fit the file's type."""
        flat = np.ascontiguousarray(array, dtype=self.dtype).reshape(-1)
        self._file.write(flat.data)
        self.length += len(flat)

    def close(self) -> None:
        """Write the header."""
        fields = f"{{'descr': '{self.dtype.str}', 'fortran_order': False, 'shape': ({self.length},), }}"
        magic = np.lib.format.magic(1, 0) + (NPY_HEADER_BYTES - 10).to_bytes(2, "little")
        self._file.seek(0)
        self._file.write(magic + fields.ljust(NPY_HEADER_BYTES - 11).encode("latin1") + b"\n")
        self._file.close()


def write_header(folder: Path, weights: str, documents: int, terms: int) -> None:
    """State what the folder holds; written last, so that a folder without it is no index."""
    names = [IDS, *(f"{name}.npy" for name in array_types(weights))]
    files = [{"name": name, "bytes": (folder / name).stat().st_size, "sha256": sha256(folder / name)} for name in names]
    write_json(folder / HEADER, {"format": FORMAT, "version": VERSION, "weights": weights, "documents": documents, "terms": terms, "files": files})


def begin(folder: Path) -> Path:
    """An empty folder beside `folder` to build in; refuses to write over anything that is not an index."""
    if folder.exists() and not (folder / HEADER).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError("exists and is not a lexicon index, so it is not overwritten", where=folder, mend="choose another folder, or remove this one")
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    return partial


def publish(partial: Path, folder: Path) -> None:
    """Put the finished folder in its place, instead of what was there."""
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        os.replace(folder, old)
    os.replace(partial, folder)
    shutil.rmtree(old, ignore_errors=True)


def read_header(folder: Path) -> dict[str, Any]:
    """What the folder says of itself.

    Raises:
        UserError: there is no lexicon index, it is of another version, or its header is damaged.
    """
    path = folder / HEADER
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"no lexicon index here ({HEADER} is missing)", where=folder, mend="build one with `retrolex index`") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise damaged(path, f"not readable as JSON: {error}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UserError(f"not a lexicon index: no 'format': '{FORMAT}' in it", where=path, mend="build one with `retrolex index`")
    if header.get("version") != VERSION:
        raise UserError(
            f"a lexicon index of version {header.get('version')}; this retrolex reads version {VERSION}", where=path, mend="build the index again"
        )
    try:
        expected = {IDS, *(f"{name}.npy" for name in array_types(header["weights"]))}
        sound = header["weights"] in ("floor", "round", "float") and {file["name"] for file in header["files"]} == expected
        sound &= all(type(header[name]) is int and header[name] >= 0 for name in ("documents", "terms"))
        sound &= all(type(file["bytes"]) is int and isinstance(file["sha256"], str) for file in header["files"])
    except (KeyError, TypeError):
        sound = False
    if not sound:
        raise damaged(path, "fields are missing or wrong")
    return header


def check_files(folder: Path, header: dict[str, Any], up_to: int | None) -> None:
    """Compare the files' sizes with the header's, and the hashes of those of at most `up_to` bytes (None: of all)."""
    for file in header["files"]:
        path = folder / file["name"]
        size = path.stat().st_size if path.is_file() else None
        if size != file["bytes"]:
            raise damaged(path, "missing" if size is None else f"{size:,} bytes long where the index states {file['bytes']:,}")
        if (up_to is None or size <= up_to) and sha256(path) != file["sha256"]:
            raise damaged(path, "altered: its SHA-256 differs from the index's")


def map_arrays(folder: Path, weights: str) -> dict[str, np.ndarray]:
    """The arrays, memory-mapped, their types checked."""
    arrays = {}
    for name, dtype in array_types(weights).items():
        path = folder / f"{name}.npy"
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise damaged(path, f"not a .npy file: {error}") from None
        if array.ndim != 1 or array.dtype != np.dtype(dtype):
            raise damaged(path, f"holds {array.dtype} of shape {array.shape} where one dimension of {np.dtype(dtype)} belongs")
        arrays[name] = np.asarray(array)
    return arrays


def check_structure(folder: Path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Refuse arrays that would send a search outside of them. Reads only the small ones, whole."""
    documents, terms = header["documents"], header["terms"]
    blocks = -(-documents // BLOCK)
    sizes = {name: len(array) for name, array in arrays.items()}

    def require(sound: object, name: str, what: str) -> None:
        if not bool(sound):
            raise damaged(folder / f"{name}.npy", what)

    require(sizes["block_table"] == 3 * (blocks + 1), "block_table", "of the wrong length")
    require(sizes["directory"] == 3 * blocks * (terms + 1), "directory", "of the wrong length")
    table = arrays["block_table"].reshape(blocks + 1, 3)
    directory = arrays["directory"].reshape(blocks, terms + 1, 3)
    lists = "list_weights" if header["weights"] == "float" else "list_impacts"
    require(sizes[lists] == sizes["list_documents"], lists, "of the wrong length")
    ends = [sizes["list_documents"], sizes.get("overflow_documents", 0), max(0, sizes.get("column_pointers", 1) - 1)]
    require((table[0] == 0).all() and (table[-1] == ends).all() and (np.diff(table, axis=0) >= 0).all(), "block_table", "inconsistent")
    for column in (0, 1):
        pointers = directory[:, :, column]
        rising = (pointers[:, 1:] >= pointers[:, :-1]).all() and (pointers[:, 0] == 0).all()
        require(rising and (pointers[:, -1] == np.diff(table[:, column])).all(), "directory", "inconsistent")
    columns, frequent = directory[:, :, 2], np.diff(table[:, 2])
    require(((columns == NONE) | (columns < frequent[:, None])).all(), "directory", "inconsistent")
    if header["weights"] == "float":
        return
    require(sizes["overflow_impacts"] == sizes["overflow_documents"], "overflow_impacts", "of the wrong length")
    cells = int((frequent * -(-np.minimum(BLOCK, documents - BLOCK * np.arange(blocks)) // GROUP)).sum())
    for name in ("bitmaps", "offsets", "group_maxima"):
        require(sizes[name] == cells, name, "of the wrong length")
    require(sizes["term_maxima"] == terms, "term_maxima", "of the wrong length")
    require(sizes["frequent_impacts"] >= PADDING, "frequent_impacts", "of the wrong length")
    pointers = arrays["column_pointers"]
    require(len(pointers) > 0 and pointers[0] == 0 and (np.diff(pointers) >= 0).all(), "column_pointers", "inconsistent")
    require(pointers[-1] == sizes["frequent_impacts"] - PADDING, "column_pointers", "inconsistent")


def damaged(path: Path, how: str) -> UserError:
    """The error for a file that is not as it was written."""
    return UserError(how, where=path, mend="the index is damaged: build it again")
