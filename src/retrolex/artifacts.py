"""Folders that are either whole or absent: written under a temporary name, described by a manifest, renamed last.

Every stage writes one folder. While it works, the folder is called ``NAME.partial`` and keeps the key of the work it
belongs to, so that a killed stage finds its own shards and checkpoints again and a changed configuration starts afresh.
``manifest.json`` is written last; then the folder is renamed. A folder that has a manifest is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retrolex import __version__
from retrolex.errors import UserError

MANIFEST = "manifest.json"
LOGS = "logs"  # files below a folder of this name hold clock times: they are kept, but no part of an artefact's hash


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes, read in blocks."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def key_of(value: Any) -> str:
    """Hash of a JSON-able value; equal values give equal keys, whatever the order of their fields."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def write_json(path: Path, value: Any) -> None:
    """Write JSON so that a reader sees the old file or the new one, never half of it."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(temporary, path)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a finished folder, or None when there is none (absent, or never finished)."""
    path = Path(folder) / MANIFEST
    if not path.exists():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"not a manifest: {error}", where=path, mend=f"delete {folder} and run the command again") from None


def outputs_of(folder: Path) -> list[dict[str, Any]]:
    """Name, size and hash of every file that is part of the artefact, in name order."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and LOGS not in path.relative_to(folder).parts)
    return [
        {"name": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size, "sha256": sha256(path)}
        for path in files
        if path.name not in (MANIFEST, "key")
    ]


@dataclass
class Stage:
    """One arrow of the pipeline: a name, the folder it writes, the finished folders it reads, and its configuration.

    A stage is up to date when its folder's manifest carries the same key: a hash of its configuration and of the
    *contents* of its inputs, so that an input rebuilt to the same bytes does not set off the stages after it.
    """

    name: str
    folder: Path
    inputs: dict[str, Path] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)

    def key(self) -> str:
        """Hash of everything that decides what this stage writes.

        Raises:
            UserError: an input folder is missing or unfinished.
        """
        return key_of({"stage": self.name, "config": self.config, "inputs": {name: content_hash(path) for name, path in self.inputs.items()}})

    def up_to_date(self) -> bool:
        """Whether the folder holds what this stage would write."""
        manifest = read_manifest(self.folder)
        return manifest is not None and manifest["key"] == self.key()

    def run(self, work: Callable[[Path], dict[str, Any] | None]) -> bool:
        """Do `work` in the partial folder, then publish it. Returns False when there was nothing to do.

        `work` receives the folder to write into, which holds what an earlier, killed attempt at the same work left
        there, and returns counts for the manifest. A UserError removes the partial folder: nothing half-written stays.
        """
        if self.up_to_date():
            return False
        key, partial = self.key(), self.folder.with_name(self.folder.name + ".partial")
        mark = partial / "key"
        if partial.exists() and not (mark.exists() and mark.read_text() == key):
            shutil.rmtree(partial)
        partial.mkdir(parents=True, exist_ok=True)
        mark.write_text(key)
        started = time.perf_counter()
        try:
            counts = work(partial) or {}
        except UserError:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        seconds = time.perf_counter() - started
        publish(partial, self.folder, stage=self.name, key=key, config=self.config, inputs=self.inputs, counts=counts, seconds=seconds)
        return True


def publish(
    partial: Path, folder: Path, *, stage: str, key: str, config: dict[str, Any], inputs: dict[str, Path], counts: dict[str, Any], seconds: float
) -> None:
    """Write the manifest into `partial` and rename it to `folder`, replacing what was there."""
    outputs = outputs_of(partial)
    manifest = {
        "stage": stage,
        "retrolex": __version__,
        "key": key,
        "hash": key_of(outputs),
        "config": config,
        "inputs": {name: {"path": os.path.relpath(path, folder.parent), "hash": content_hash(path)} for name, path in inputs.items()},
        "outputs": outputs,
        "counts": counts,
        "seconds": round(seconds, 3),
        "versions": versions(("torch", "transformers", "sentence-transformers", "numpy", "faiss-cpu", "bm25s")),
        "machine": {"processor": platform.processor() or platform.machine(), "system": platform.system(), "cores": os.cpu_count()},
    }
    write_json(partial / MANIFEST, manifest)
    (partial / "key").unlink(missing_ok=True)
    if folder.exists():
        old = folder.with_name(folder.name + ".old")
        shutil.rmtree(old, ignore_errors=True)
        os.replace(folder, old)
        os.replace(partial, folder)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(partial, folder)


def content_hash(folder: Path) -> str:
    """The hash that a finished folder's manifest states for its contents."""
    manifest = read_manifest(Path(folder))
    if manifest is None:
        raise UserError("no finished folder here (it has no manifest.json)", where=folder, mend="run the stage that writes it first")
    return manifest["hash"]


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Installed versions of the named distributions, those absent left out."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
