"""Hugging Face datasets: a folder that `save_to_disk` wrote, a folder of data files with a dataset card, or `hf:NAME` from the hub.

`hf:NAME:CONFIG` names a configuration. Configurations or splits called `corpus` and `queries`, and tables with the columns
`query-id`, `corpus-id` and `score`, are documents, queries and judgments, as in the retrieval sets of BEIR and MTEB; without a
`corpus`, every row of every split is a document. Places are row numbers. Rows stay on disk, memory-mapped by the library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from retrolex.artifacts import sha256
from retrolex.collection.readers.arrow_rows import BATCH_ROWS, rows_of
from retrolex.collection.readers.columns import NAMES, QUERY_NAMES, choose, document_of, id_of, place_id, query_of_row
from retrolex.collection.readers.files import existing, files_below
from retrolex.collection.readers.foreign import errors_of, library
from retrolex.collection.readers.lines import NOT_UTF8
from retrolex.collection.readers.qrels import DOCUMENT_NAMES, GRADE_NAMES, Judgments, plain_name
from retrolex.collection.readers.records import Columns, Place, Reader, Record, Reject
from retrolex.errors import UserError
from retrolex.progress import say

PREFIX = "hf:"
RETRIEVAL = ("corpus", "queries", "qrels", "default")  # configurations of a retrieval set
SAVED = ("dataset_dict.json", "state.json")
CARD = re.compile(r"---\r?\n(?:(?!---).*\n)*?(?:configs|dataset_info):")


class Table(NamedTuple):
    """One split: its configuration's name (empty where there is one only), its own, and the rows."""

    configuration: str
    split: str
    rows: Any

    @property
    def name(self) -> str:
        """What a message calls it."""
        return "/".join(filter(None, (self.configuration, self.split)))


def matches(folder: Path) -> bool:
    """Whether a folder was written by `save_to_disk`, or has a dataset card that describes data files."""
    if any((folder / name).is_file() for name in SAVED):
        return True
    card = folder / "README.md"
    return card.is_file() and CARD.match(card.read_bytes()[:65536].decode(errors="replace")) is not None


def _named(source: Path) -> tuple[str, str | None]:
    """The hub's name of a data set, or a folder, and the configuration."""
    name, _, configuration = source.as_posix().removeprefix(PREFIX).partition(":")
    return name, configuration or None


def _is_hub(source: Path) -> bool:
    return source.as_posix().startswith(PREFIX) and not Path(_named(source)[0]).exists()


def files(source: Path) -> list[Path]:
    """The files of a folder; none for a data set of the hub, whose identity is that of what was downloaded.

    Raises:
        UserError: there is no such folder.
    """
    return [] if _is_hub(source) else files_below(Path(_named(source)[0]))


def identity(source: Path) -> dict[str, Any] | None:
    """Name and hash of what a data set of the hub holds; None for a folder."""
    if not _is_hub(source):
        return None
    cached = [Path(file["filename"]) for table in tables(source) for file in table.rows.cache_files]
    return {"dataset": source.as_posix(), "files": [[path.name, sha256(path)] for path in cached]}


def tables(source: Path) -> list[Table]:
    """All splits that are read, from disk, or downloaded.

    Raises:
        UserError: the package `datasets` is missing, or cannot read this.
    """
    name, configuration = _named(source)
    where = source.as_posix()
    datasets = library("datasets", where)
    if not _is_hub(source):
        existing(Path(name))
    mend = "check the name and the connection, or name a folder" if _is_hub(source) else "write or copy the folder again"
    with errors_of("datasets", where, mend):
        if any(Path(name, file).is_file() for file in SAVED):
            return _splits("", datasets.load_from_disk(name))
        there = datasets.get_dataset_config_names(name)
        if configuration is None and "corpus" in there:
            wanted = [one for one in RETRIEVAL if one in there]
        elif configuration is None and len(there) > 1 and "default" not in there:
            raise UserError(f"several configurations: {', '.join(there)}", where=where, mend=f"name one: {PREFIX}{name}:{there[0]}")
        else:
            wanted = [configuration or ("default" if "default" in there else there[0])]
        return [table for one in wanted for table in _splits(one if len(wanted) > 1 else "", datasets.load_dataset(name, one))]


def _splits(configuration: str, loaded: Any) -> list[Table]:
    if isinstance(loaded, dict):
        return [Table(configuration, split, rows) for split, rows in loaded.items()]
    return [Table(configuration, str(loaded.split or ""), loaded)]


def _role(table: Table) -> str:
    names = {plain_name(name) for name in table.rows.column_names}
    if names & {"queryid", "qid"} and names & set(DOCUMENT_NAMES) and names & set(GRADE_NAMES):
        return "qrels"
    return "queries" if "queries" in (table.configuration, table.split) else "documents"


def _rows(source: Path, table: Table, columns: list[str]) -> Iterator[tuple[Place, dict[str, Any] | None]]:
    """The table's rows, these columns only; None for one that is not UTF-8."""
    number = 0
    with errors_of("datasets", source.as_posix(), "write or copy the files again"):
        for batch in table.rows.data.to_batches(max_chunksize=BATCH_ROWS):
            for row in rows_of(batch.select(columns)):
                number += 1
                yield Place(f"{source.as_posix()}/{table.name}".rstrip("/"), number), row


def _documents_or_queries(source: Path, table: Table, role: str, wanted: Columns, files: int) -> Iterator[Record]:
    there = table.rows.column_names
    place = Place(f"{source.as_posix()}/{table.name}".rstrip("/"), 1)
    columns = choose(there, wanted, place, NAMES) if role == "documents" else choose(there, {}, place, QUERY_NAMES)
    if columns.id is None and role == "documents":
        say(f"{place.file}: no id column, so row numbers serve as ids")
    for place, row in _rows(source, table, [name for name in dict.fromkeys(columns) if name in there]):
        if row is None:
            yield Reject(place, NOT_UTF8)
        else:
            yield document_of(row, columns, place, place_id(place, files)) if role == "documents" else query_of_row(row, columns, place)


def _qrels(source: Path, table: Table, judgments: Judgments) -> Iterator[Record]:
    there = table.rows.column_names
    query, document, grade = (
        next(name for name in there if plain_name(name) in names) for names in (("queryid", "qid"), DOCUMENT_NAMES, GRADE_NAMES)
    )
    for place, row in _rows(source, table, [query, document, grade]):
        if row is None:
            raise UserError(NOT_UTF8, where=place)
        yield judgments.take(id_of(row, query, place), id_of(row, document, place), str(row[grade]), place)


def _split_name(table: Table, others: list[str]) -> str:
    name = re.sub(r"^qrels[-_.]?", "", table.split) or "test"
    return "dev" if name == "validation" and "dev" not in others else name


def read(source: Path, wanted: Columns) -> Iterator[Record]:
    """Documents, queries, judgments."""
    found = tables(source)
    roles: dict[str, list[Table]] = {"documents": [], "queries": [], "qrels": []}
    for table in found:
        roles[_role(table)].append(table)
    corpus = [table for table in roles["documents"] if "corpus" in (table.configuration, table.split)]
    if corpus and (others := [table.name for table in roles["documents"] if table not in corpus]):
        say(f"{source}: {', '.join(others)} left alone, since there is a corpus")
    documents = corpus or roles["documents"]
    for role, some in (("documents", documents), ("queries", roles["queries"])):
        for table in some:
            yield from _documents_or_queries(source, table, role, wanted, len(documents))
    by_split: dict[str, Judgments] = {}
    for table in roles["qrels"]:
        split = _split_name(table, [other.split for other in roles["qrels"]])
        yield from _qrels(source, table, by_split.setdefault(split, Judgments(split)))


READER = Reader("a Hugging Face data set: a folder, or hf:NAME", files, read, has_columns=True, identity=identity)
