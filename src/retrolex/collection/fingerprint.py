"""What decides the contents of a source, so that a changed one is read again and an unchanged one is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from retrolex.artifacts import key_of, sha256
from retrolex.collection.readers import reader_for

LISTED_FILES = 64  # beyond so many files, only their number, size and common hash are stated


def source_fingerprint(source: str | Path, reader: str | None = None) -> dict[str, Any]:
    """Names, sizes and hashes of a source's files; for a source without files of its own, its name and versions.

    The source's own path is no part of it: a moved source is the same source.

    Raises:
        UserError: the source is missing, or of no known format.
    """
    name, chosen = reader_for(source, reader)
    paths = chosen.files(Path(source))
    if (identity := chosen.identity(Path(source))) is not None:
        return {"reader": name, **identity}
    source = Path(source)
    base = source if source.is_dir() else source.parent
    files = {path.relative_to(base).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256(path)} for path in paths}
    if len(files) <= LISTED_FILES:
        return {"reader": name, "files": files}
    return {"reader": name, "files": len(files), "bytes": sum(file["bytes"] for file in files.values()), "sha256": key_of(files)}
