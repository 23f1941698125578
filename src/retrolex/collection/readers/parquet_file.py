"""Parquet: one file, or all the .parquet files of a folder. Places are row numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from retrolex.collection.readers.arrow_rows import BATCH_ROWS, rows_of
from retrolex.collection.readers.columns import Chosen, choose, document_of, place_id
from retrolex.collection.readers.files import files_of_kind
from retrolex.collection.readers.lines import NOT_UTF8
from retrolex.collection.readers.records import Columns, Place, Reader, Record, Reject
from retrolex.errors import UserError
from retrolex.progress import say

if TYPE_CHECKING:
    import pyarrow as pa


def files(source: Path) -> list[Path]:
    """The file itself, or the .parquet files of a folder by name."""
    return files_of_kind(source, (".parquet",))


def _batches(path: Path, wanted: Columns) -> Iterator[tuple[Chosen, pa.RecordBatch]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            columns = choose(file.schema_arrow.names, wanted, Place(str(path), 1))
            present = [name for name in columns if name in file.schema_arrow.names]
            for batch in file.iter_batches(BATCH_ROWS, columns=present):
                yield columns, batch
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"not a Parquet file, or a damaged one: {str(error)[:200]}", where=path, mend="write or copy the file again") from None


def read(source: Path, wanted: Columns) -> Iterator[Record]:
    """The documents of all files."""
    paths = files(source)
    for path in paths:
        number = 0
        for columns, batch in _batches(path, wanted):
            if number == 0 and columns.id is None:
                say(f"{path}: no id column, so row numbers serve as ids")
            for row in rows_of(batch):
                number += 1
                place = Place(str(path), number)
                yield Reject(place, NOT_UTF8) if row is None else document_of(row, columns, place, place_id(place, len(paths)))


READER = Reader("Parquet, one file or a folder of them", files, read, has_columns=True)
