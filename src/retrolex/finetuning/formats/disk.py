"""Training rows from and to files, by the name of the format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from retrolex.collection.readers.files import existing
from retrolex.collection.readers.records import Reject
from retrolex.errors import UserError
from retrolex.finetuning.formats.registry import format_of
from retrolex.finetuning.formats.rows import Row


def read_rows(path: str | Path, name: str) -> Iterator[Row | Reject]:
    """The rows of a file, those that are not UTF-8 as rejects.

    Raises:
        UserError: with file and line, for a row that is not of the format; no such file or format.
    """
    return format_of(name).read(existing(Path(path)))


def write_rows(path: str | Path, name: str, rows: Iterable[Row]) -> dict[str, int]:
    """Write all rows, or nothing.

    Args:
        path: the file, replaced if there.
        name: of the format.
        rows: with texts where the format holds them, see `resolve`.

    Returns:
        ``rows``: lines written; by name, whatever is not written as it was given.

    Raises:
        UserError: a row that the format cannot hold, a file name that does not go with it, no such folder.
    """
    path, form = Path(path), format_of(name)
    check_target(path, name)
    with whole(path) as temporary:
        return form.write(temporary, rows)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file to write in place of `path`, which takes its name at the end; after an error nothing is left of it."""
    temporary = path.with_name(f"partial-{path.name}")  # the ending stays: it tells jsonl from Parquet
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def check_target(path: Path, name: str) -> None:
    """Refuse a file that could not be written, before any work is done.

    Raises:
        UserError: a name that does not go with the format, or no such folder.
    """
    suffixes = format_of(name).suffixes
    if path.suffix not in suffixes:
        ending = path.suffix or "a file without an ending"
        raise UserError(f"the format {name} is not written to {ending}", where=path, mend=f"end it in {' or '.join(suffixes)}")
    if path.is_dir():
        raise UserError("a folder, where the file should be", where=path, mend="name a file")
    if not path.parent.is_dir():
        raise UserError("no such folder", where=path.parent, mend="make it first, or write somewhere else")
