"""An index that grows and shrinks without a rebuild: segments, each an immutable index, and lists of what is deleted in them.

The folder holds segments, lists of deleted positions, and ``segments.json``, which names those that count. A change writes
new files first, then replaces ``segments.json`` in one step: a reader sees the state before it or the one after, and one
that is open goes on with what it opened. Only then are files that nothing names removed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from retrolex.artifacts import write_json
from retrolex.errors import UserError
from retrolex.index.base import Hits, Named, check_ids

STATE, LOCK = "segments.json", "writing.lock"
VERSION = 1


@dataclass(frozen=True)
class Part:
    """A segment's folder, and the file of its deleted positions (None: nothing is deleted)."""

    name: str
    deleted: str | None = None


class SegmentedIndex(Named):
    """The live documents of all segments, numbered in the order in which they were added.

    It gives what one index of the live documents in that order gives, ties included. `add`, `delete` and `merge`
    change the folder and this object; other objects open on the folder stay as they are until opened again.

    A kind of index states its `FORMAT`, its `OPTION` (the one setting that all its segments share) and what that may be,
    and says how a segment is written (`_write`), opened (`_open`), searched (`_search`) and rewritten (`_rewrite`).
    """

    FORMAT: ClassVar[str]
    KIND: ClassVar[str]
    OPTION: ClassVar[str]

    def __init__(self, folder: Path, option: str, serial: int, parts: list[Part]):
        self.folder, self.option = folder, option
        self._load(serial, parts)

    def _load(self, serial: int, parts: list[Part]) -> None:
        self._serial, self._parts = serial, parts
        self._segments = [self._open(self.folder / part.name) for part in parts]
        self._deleted = [_positions(self.folder, part, len(segment)) for part, segment in zip(parts, self._segments, strict=True)]

    @classmethod
    def _check_option(cls, option: str) -> None:
        """Raise a UserError when there is no such option."""
        raise NotImplementedError

    def _open(self, folder: Path) -> Any:
        """A segment, opened."""
        raise NotImplementedError

    def _write(self, folder: Path, ids: list[str], contents: Any) -> None:
        """Write a new segment."""
        raise NotImplementedError

    def _rewrite(self, folder: Path) -> None:
        """Write the live documents of all segments as one."""
        raise NotImplementedError

    @classmethod
    def create(cls, folder: Path, option: str, **settings: Any) -> SegmentedIndex:
        """An index without documents, in a folder that is empty or not there yet.

        Raises:
            UserError: the folder holds something, or there is no such option.
        """
        folder = Path(folder)
        cls._check_option(option)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UserError("not empty, so no index is created here", where=folder, mend="choose another folder")
        folder.mkdir(parents=True, exist_ok=True)
        index = cls(folder, option, 0, [], **settings)
        index._commit([])
        return index

    @classmethod
    def open(cls, folder: Path, **settings: Any) -> SegmentedIndex:
        """Open the state that the folder is in now.

        Raises:
            UserError: no such index is there, or it is damaged.
        """
        folder = Path(folder)
        while True:
            option, serial, parts = cls._read_state(folder)
            try:
                return cls(folder, option, serial, parts, **settings)
            except UserError:
                if cls._read_state(folder)[1] == serial:  # otherwise the state was replaced while its files were being opened
                    raise

    def __len__(self) -> int:
        return sum(len(segment) - len(deleted) for segment, deleted in zip(self._segments, self._deleted, strict=True))

    @cached_property
    def ids(self) -> list[str]:
        """Ids of the live documents by position."""
        return [
            segment.ids[position] for segment, live in zip(self._segments, map(self._live, range(len(self._parts))), strict=True) for position in live
        ]

    @property
    def bytes(self) -> int:
        """Size on disk of what counts."""
        lists = sum((self.folder / part.deleted).stat().st_size for part in self._parts if part.deleted)
        return lists + sum(segment.bytes for segment in self._segments)

    @property
    def opened(self) -> list[Any]:
        """The segments, in order."""
        return self._segments

    @property
    def is_merged(self) -> bool:
        """Whether one segment holds everything and nothing is deleted in it."""
        return len(self._parts) == 1 and self._parts[0].deleted is None

    @property
    def segments(self) -> int:
        """How many there are; a search goes through each, so merge when they are many."""
        return len(self._parts)

    def add(self, ids: list[str], contents: Any) -> None:
        """Append documents; arguments and errors as those of the kind's own `build`.

        Raises:
            UserError: also when an id is that of a live document: delete it first.
        """
        self._check_new(ids)
        with self._writing():
            name = f"segment-{self._serial + 1:06}"
            self._write(self.folder / name, list(ids), contents)
            self._commit([*self._parts, Part(name)])

    def _check_new(self, ids: list[str]) -> None:
        check_ids(ids)
        known = set(self.ids).intersection(ids)
        if known:
            raise UserError(
                f"document id {min(known)!r} is already in the index", where=self.folder, mend="delete the document first, then add it again"
            )

    def delete(self, ids: Iterable[str]) -> None:
        """Take documents out of every later search; their space is freed by `merge`.

        Raises:
            UserError: an id is not that of a live document; nothing is deleted then.
        """
        wanted = set(ids)
        with self._writing():
            parts = []
            for number, (part, segment) in enumerate(zip(self._parts, self._segments, strict=True)):
                found = [position for position in self._live(number) if segment.ids[position] in wanted]
                wanted.difference_update(segment.ids[position] for position in found)
                if found:
                    file = f"{part.name}.deleted-{self._serial + 1:06}.npy"
                    np.save(self.folder / file, np.union1d(self._deleted[number], found).astype("<i8"))
                    part = Part(part.name, file)
                parts.append(part)
            if wanted:
                self._remove_unnamed()
                raise UserError(
                    f"no document {min(wanted)!r} in the index; nothing was deleted", where=self.folder, mend="look at .ids for what there is"
                )
            self._commit(parts)

    def merge(self) -> None:
        """Rewrite all live documents as one segment: the fastest to search, without what was deleted."""
        with self._writing():
            name = f"segment-{self._serial + 1:06}"
            if len(self):
                self._rewrite(self.folder / name)
            self._commit([Part(name)] if len(self) else [])

    def search(self, queries: Any, k: int, threads: int = 1) -> list[Hits]:
        """As a single index's search, over the live documents."""
        found: list[list[Hits]] = [[] for _ in range(queries.shape[0])]
        start = 0
        for number, segment in enumerate(self._segments):
            for row, (positions, scores) in enumerate(self._search_segment(number, queries, k, threads)):
                found[row].append((start + positions - np.searchsorted(self._deleted[number], positions), scores))
            start += len(segment) - len(self._deleted[number])
        return [self._best(hits, k) for hits in found]

    def _search_segment(self, number: int, queries: Any, k: int, threads: int) -> list[Hits]:
        """The best `k` live documents of one segment. Deleted ones take places, so more are asked for, and many more where that was too few."""
        segment, deleted = self._segments[number], self._deleted[number]
        results: list[Hits | None] = [None] * queries.shape[0]
        rows, asked = np.arange(queries.shape[0]), k + min(len(deleted), k)
        while len(rows):
            unfinished = []
            for row, (positions, scores) in zip(rows.tolist(), segment.search(queries[rows], asked, threads), strict=True):
                live = ~np.isin(positions, deleted)
                if live.sum() < k and len(positions) == asked:
                    unfinished.append(row)
                results[row] = (positions[live][:k], scores[live][:k])
            rows, asked = np.array(unfinished, np.int64), 4 * asked
        return results

    def _live(self, number: int) -> list[int]:
        """Positions in a segment that are not deleted."""
        return np.setdiff1d(np.arange(len(self._segments[number])), self._deleted[number], assume_unique=True).tolist()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One writer at a time, and only from the newest state."""
        lock = self.folder / LOCK
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            raise UserError("another process is changing this index", where=lock, mend="wait for it; if there is none, remove this file") from None
        try:
            if self._read_state(self.folder)[1] != self._serial:
                raise UserError("the index has changed since it was opened", where=self.folder, mend="open it again, then make the change")
            yield
        finally:
            lock.unlink()

    def _commit(self, parts: list[Part]) -> None:
        """Make `parts` the folder's state, and this object's."""
        serial = self._serial + 1
        state = {"format": self.FORMAT, "version": VERSION, self.OPTION: self.option, "serial": serial, "segments": [asdict(part) for part in parts]}
        write_json(self.folder / STATE, state)
        self._load(serial, parts)
        self.__dict__.pop("ids", None)  # cached for the state before
        self._remove_unnamed()

    def _remove_unnamed(self) -> None:
        named = {name for part in self._parts for name in (part.name, part.deleted)} | {STATE, LOCK}
        for path in self.folder.iterdir():
            if path.name.startswith("segment-") and path.name not in named:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    @classmethod
    def _read_state(cls, folder: Path) -> tuple[str, int, list[Part]]:
        path = folder / STATE
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            if state["format"] != cls.FORMAT or state["version"] != VERSION:
                raise ValueError(f"format {state['format']!r}, version {state['version']!r}")
            option, serial, parts = state[cls.OPTION], int(state["serial"]), [Part(**part) for part in state["segments"]]
        except (FileNotFoundError, NotADirectoryError):
            raise UserError(f"no segmented {cls.KIND} index here ({STATE} is missing)", where=folder, mend="create one first") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"not the state of a segmented {cls.KIND} index: {error}"
            raise UserError(message, where=path, mend="the index is damaged: build it again") from None
        cls._check_option(option)
        return option, serial, parts

    def _best(self, hits: list[Hits], k: int) -> Hits:
        """The best `k` of several results whose positions rise from one to the next."""
        if not hits:
            return np.zeros(0, np.int64), np.zeros(0, self._score_type())
        positions, scores = (np.concatenate(column) for column in zip(*hits, strict=True))
        order = np.lexsort((positions, -scores))[:k]
        return positions[order], scores[order]

    def _score_type(self) -> Any:
        return np.float32


def _positions(folder: Path, part: Part, documents: int) -> np.ndarray:
    if part.deleted is None:
        return np.zeros(0, np.int64)
    path = folder / part.deleted
    try:
        positions = np.load(path, allow_pickle=False)
        sound = positions.ndim == 1 and positions.dtype == np.int64 and (np.diff(positions) > 0).all()
        sound = sound and len(positions) > 0 and positions[0] >= 0 and positions[-1] < documents
    except (OSError, ValueError, EOFError):
        sound = False
    if not sound:
        raise UserError("not a list of deleted positions", where=path, mend="the index is damaged: build it again")
    return positions
