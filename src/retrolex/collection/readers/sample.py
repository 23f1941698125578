"""The collections that come with retrolex, by name."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from retrolex import __version__
from retrolex.collection.documents import Judgment, Query
from retrolex.collection.readers.records import Columns, Found, Place, Reader, Record
from retrolex.errors import UserError

SAMPLES = {"python-docs": "retrolex.collection.samples.python_docs"}


def files(source: Path) -> list[Path]:
    """None: a sample's contents depend on versions only.

    Raises:
        UserError: there is no such sample.
    """
    if str(source) not in SAMPLES:
        raise UserError(f"no collection {str(source)!r} comes with retrolex", mend="choose one of: " + ", ".join(SAMPLES))
    return []


def identity(source: Path) -> dict[str, Any]:
    """A sample's name, and the versions that decide what is in it."""
    return {"sample": str(source), "python": platform.python_version(), "retrolex": __version__}


def read(source: Path, _: Columns) -> Iterator[Record]:
    """Documents, queries, judgments; places are counted within each of the three."""
    files(source)
    name = str(source)
    sample = import_module(SAMPLES[name])
    for number, document in enumerate(sample.documents(), 1):
        yield Found(document, Place(f"{name}/documents", number))
    for number, query in enumerate(sample.queries().items(), 1):
        yield Found(Query(*query), Place(f"{name}/queries", number))
    for split, qrels in sample.qrels().items():
        judgments = ((query, document, grade) for query, grades in qrels.items() for document, grade in grades.items())
        for number, judgment in enumerate(judgments, 1):
            yield Found(Judgment(split, *judgment), Place(f"{name}/qrels/{split}", number))


READER = Reader("a collection that comes with retrolex, by its name", files, read, identity=identity)
