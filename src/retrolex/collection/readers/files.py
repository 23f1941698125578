"""The files of a source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from retrolex.collection.readers.lines import kind_of
from retrolex.errors import UserError


def files_of_kind(source: Path, kinds: Sequence[str]) -> list[Path]:
    """The file itself, or the files directly in a folder that have one of these suffixes (also with .gz), sorted by name.

    Raises:
        UserError: nothing is there.
    """
    if not source.is_dir():
        return [existing(source)]
    paths = sorted(path for path in source.iterdir() if kind_of(path) in kinds and path.is_file() and not path.name.startswith("."))
    if not paths:
        raise UserError(f"no {' or '.join(kinds)} file in this folder", where=source)
    return paths


def files_below(folder: Path) -> list[Path]:
    """All files in a folder and its sub-folders, sorted by relative path; hidden ones (.git, .venv, ...) are not part of a collection."""
    found = []
    for parent, folders, names in os.walk(existing(folder), onerror=_unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(parent) / name for name in names if not name.startswith(".")]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _unreadable(error: OSError) -> None:
    raise UserError(f"cannot be read: {error.strerror}", where=error.filename)


def existing(path: Path) -> Path:
    """The path, if there is something there.

    Raises:
        UserError: there is nothing.
    """
    if not path.exists():
        raise UserError("no such file or folder", where=path, mend="check the path")
    return path
