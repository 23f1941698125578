"""A TREC collection: files of <DOC> blocks, and in a folder with its sub-folders also topics and qrels; each may end in .gz.

What a file is, its first tag says; judgments, which have none, are known by `qrels` in their name. Other files, such as runs, are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from retrolex.collection.readers.files import existing, files_below
from retrolex.collection.readers.qrels import read_qrels
from retrolex.collection.readers.queries import each_once
from retrolex.collection.readers.records import Columns, Reader, Record
from retrolex.collection.readers.trec_blocks import begins_with
from retrolex.collection.readers.trec_documents import BLOCK, read_documents
from retrolex.collection.readers.trec_topics import chosen_parts, is_topics, read_topics
from retrolex.errors import UserError
from retrolex.progress import say

KINDS = (".trec", ".sgml", ".sgm", ".xml")
SPLIT = re.compile(r"(?<![a-z])(train|dev|test)(?![a-z])")
LOOK_AHEAD = 64  # files: enough to find documents among notes and topics


def _is_qrels(path: Path) -> bool:
    return "qrel" in path.name.lower()


def holds_documents(path: Path) -> bool:
    """Whether a file begins with a TREC document; of a folder, whether one of its first files does. A damaged file does not."""
    for candidate in islice(files_below(path), LOOK_AHEAD) if path.is_dir() else [path]:
        with suppress(UserError):
            if not _is_qrels(candidate) and begins_with(candidate, BLOCK):
                return True
    return False


def _roles(source: Path) -> dict[str, list[Path]]:
    roles: dict[str, list[Path]] = {"documents": [], "topics": [], "qrels": [], "others": []}
    if existing(source).is_file():
        return roles | {"documents": [source]}
    for path in files_below(source):
        role = "qrels" if _is_qrels(path) else "documents" if begins_with(path, BLOCK) else "topics" if is_topics(path) else "others"
        roles[role].append(path)
    return roles


def files(source: Path) -> list[Path]:
    """The files of documents, then topics, then judgments, each by relative path.

    Raises:
        UserError: there are no documents.
    """
    roles = _roles(source)
    if not roles["documents"]:
        raise UserError("no file that begins with <DOC> in this folder or below", where=source, mend="put the documents there")
    return [*roles["documents"], *roles["topics"], *roles["qrels"]]


def splits_of(paths: list[Path]) -> list[str]:
    """The split of each file of judgments: the train, dev or test in its name, else test; its whole name where that would not tell two apart."""
    found = [match[1] if (match := SPLIT.search(path.name.lower())) else "test" for path in paths]
    return [path.name.removesuffix(".gz") if found.count(split) > 1 else split for path, split in zip(paths, found, strict=True)]


def read(source: Path, wanted: Columns) -> Iterator[Record]:
    """Documents, queries, judgments."""
    parts, roles = chosen_parts(wanted), _roles(source)
    if roles["others"]:
        say(f"{source}: {len(roles['others'])} files that are neither documents nor topics nor judgments are left alone")
    for path in roles["documents"]:
        yield from read_documents(path)
    yield from each_once(record for path in roles["topics"] for record in read_topics(path, parts))
    for path, split in zip(roles["qrels"], splits_of(roles["qrels"]), strict=True):
        yield from read_qrels(path, split)


READER = Reader("TREC documents (<DOC>), topics and qrels", files, read, has_columns=True)
