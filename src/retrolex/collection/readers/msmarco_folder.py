"""An MS MARCO folder: documents, queries and judgments in headerless .tsv files that their names tell apart; each may end in .gz.

Documents: `collection.tsv` (id, text) or `...docs.tsv` (id, url, title, body). Queries: names with `queries` (id, text). Judgments:
names with `qrels` (query, 0, document, grade; tabs or spaces); what else such a name says is the split, `dev.small` in
`qrels.dev.small.tsv`. Triples and rankings are no part of a collection; `msmarco_training` reads them.

Format: Bajaj et al. 2016, "MS MARCO: A Human Generated MAchine Reading COmprehension Dataset".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.documents import Document
from retrolex.collection.readers.files import existing
from retrolex.collection.readers.lines import kind_of, read_lines
from retrolex.collection.readers.qrels import read_qrels
from retrolex.collection.readers.queries import each_once, read_queries
from retrolex.collection.readers.records import Columns, Found, Reader, Record, Reject, shortened
from retrolex.errors import UserError
from retrolex.progress import say

COLLECTION = re.compile(r"collection\.tsv(\.gz)?", re.IGNORECASE)
DOCS = re.compile(r"(.*[-_.])?docs\.tsv(\.gz)?", re.IGNORECASE)
PARTS = {
    "queries",
    "qrels",
    "msmarco",
    "doc",
    "docs",
    "passage",
    "passages",
    "pass",
    "passv2",
    "docv2",
    "tsv",
    "txt",
    "gz",
}  # of a name, but no split


def _role(path: Path) -> str | None:
    """documents, queries or qrels, by the file's name."""
    name = path.name.lower()
    if name.startswith(".") or kind_of(path) not in (".tsv", ".txt") or not path.is_file():
        return None
    if COLLECTION.fullmatch(name) or DOCS.fullmatch(name):
        return "documents"
    if "triples" in name or "top100" in name:  # qidpidtriples..., top1000.dev, ...-top100
        return None
    return "qrels" if "qrels" in name else "queries" if "queries" in name else None


def split_of(path: Path) -> str:
    """The split that a file of judgments is for: `train` for qrels.train.tsv and for msmarco-doctrain-qrels.tsv; `test` where the name has none."""
    parts = re.split(r"[-_.]", path.name.lower().replace("qrels", "."))
    parts = [re.sub(r"^doc(?=train|dev|test|eval)", "", part) for part in parts if part and part not in PARTS]
    return ".".join(parts) or "test"


def matches(folder: Path) -> bool:
    """Whether a folder is laid out like this."""
    return any(_role(path) == "documents" for path in folder.iterdir())


def files(source: Path) -> list[Path]:
    """The files of documents, then those of queries, then those of judgments, each by name.

    Raises:
        UserError: there are no documents, or judgments of one split twice.
    """
    roles: dict[str, list[Path]] = {"documents": [], "queries": [], "qrels": []}
    for path in sorted(existing(source).iterdir()):
        if role := _role(path):
            roles[role].append(path)
    if not roles["documents"]:
        raise UserError("neither collection.tsv nor docs.tsv in this folder", where=source, mend="put the documents there under one of these names")
    splits = [split_of(path) for path in roles["qrels"]]
    if repeated := sorted({split for split in splits if splits.count(split) > 1}):
        raise UserError(f"two files with judgments of the split {repeated[0]!r}", where=source, mend="keep one of them, or give them other names")
    return [path for paths in roles.values() for path in paths]


def _documents(path: Path) -> Iterator[Record]:
    """Tabs beyond the columns belong to the text, which comes last."""
    width = 2 if COLLECTION.fullmatch(path.name) else 4
    for line in read_lines(path):
        if isinstance(line, Reject):
            yield line
            continue
        fields = line.text.split("\t", width - 1)
        if not fields[0].strip():
            raise UserError("a document without an id", where=line.place, mend="give every row its own id, in the first column")
        if len(fields) != width:
            yield Reject(line.place, f"document {shortened(fields[0])}: {len(fields)} fields, {width} were expected")
            continue
        yield Found(Document(fields[0], fields[2] if width == 4 else "", fields[-1]), line.place)


def read(source: Path, _: Columns) -> Iterator[Record]:
    """Documents, queries, judgments."""
    paths = files(source)
    if others := sum(not path.name.startswith(".") for path in source.iterdir()) - len(paths):
        say(f"{source}: {others} files that hold neither documents nor queries nor judgments are left alone")
    readers = {"documents": _documents, "queries": read_queries, "qrels": lambda path: read_qrels(path, split_of(path))}
    yield from each_once(record for path in paths for record in readers[_role(path)](path))


READER = Reader("an MS MARCO folder: collection.tsv or docs.tsv, queries.*.tsv, qrels.*.tsv", files, read)
