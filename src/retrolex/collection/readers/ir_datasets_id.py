"""`ir_datasets:ID`: a data set of the catalogue at ir-datasets.com, downloaded by that package. Places are row numbers.

MacAvaney et al. 2021, "Simplified Data Wrangling with ir_datasets".
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from retrolex.collection.readers.columns import NAMES, QUERY_NAMES, Chosen, choose, document_of, query_of_row
from retrolex.collection.readers.foreign import errors_of, library
from retrolex.collection.readers.qrels import Judgments
from retrolex.collection.readers.records import Columns, Place, Reader, Record
from retrolex.errors import UserError

PREFIX = "ir_datasets:"
SPLITS = ("train", "dev", "test")
WHOLE = "default_text()"  # stands for the text of a type whose fields are none of the usual ones


def _id(source: Path) -> str:
    return source.as_posix().removeprefix(PREFIX)


def _load(source: Path) -> Any:
    """The data set.

    Raises:
        UserError: the package is missing, or knows no such data set.
    """
    package = library("ir_datasets", source.as_posix())
    try:
        return package.load(_id(source))
    except KeyError:
        raise UserError(f"ir_datasets knows no data set {_id(source)!r}", where=source, mend="look the id up at ir-datasets.com") from None


def files(source: Path) -> list[Path]:
    """None: the package keeps them.

    Raises:
        UserError: the package is missing, or knows no such data set.
    """
    _load(source)
    return []


def identity(source: Path) -> dict[str, Any]:
    """The data set's id, and the version of the package, which fixes the hashes of what it downloads."""
    return {"dataset": _id(source), "ir_datasets": version("ir_datasets")}


def split_of(id: str) -> str:
    """The split that a data set's judgments are for: the train, dev or test in its id, else test."""
    return next((part for part in reversed(id.split("/")) if part in SPLITS), "test")


def _columns(kind: type, wanted: Columns, place: Place, names: dict[str, tuple[str, ...]], id: str) -> Chosen:
    """The fields of a type of documents or queries; its own idea of a text where none of its fields is called like one."""
    try:
        return choose(kind._fields, wanted, place, names)._replace(id=wanted.get("id", id))
    except UserError:
        if wanted or not hasattr(kind, "default_text"):
            raise
        return Chosen(id, None, WHOLE)


def _row(item: Any, columns: Chosen) -> dict[str, Any]:
    return {**item._asdict(), **({WHOLE: item.default_text()} if columns.text == WHOLE else {})}


def read(source: Path, wanted: Columns) -> Iterator[Record]:
    """Documents, queries, judgments."""
    loaded, where = _load(source), source.as_posix()
    with errors_of("ir_datasets", where, "check the connection, or what the catalogue says about getting this data set"):
        columns = _columns(loaded.docs_cls(), wanted, Place(f"{where}/docs", 1), NAMES, "doc_id") if loaded.has_docs() else None
        for number, item in enumerate(loaded.docs_iter() if columns else (), 1):
            yield document_of(_row(item, columns), columns, Place(f"{where}/docs", number), "")
        columns = _columns(loaded.queries_cls(), {}, Place(f"{where}/queries", 1), QUERY_NAMES, "query_id") if loaded.has_queries() else None
        for number, item in enumerate(loaded.queries_iter() if columns else (), 1):
            yield query_of_row(_row(item, columns), columns, Place(f"{where}/queries", number))
        judgments = Judgments(split_of(_id(source)))
        for number, item in enumerate(loaded.qrels_iter() if loaded.has_qrels() else (), 1):
            yield judgments.take(item.query_id, item.doc_id, str(item.relevance), Place(f"{where}/qrels", number))


READER = Reader("a data set of ir-datasets.com: ir_datasets:ID", files, read, has_columns=True, identity=identity)
