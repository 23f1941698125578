"""Parquet: one file, or all the .parquet files of a folder. Places are row numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrolex.collection.readers.columns import Chosen, choose, document_of, place_id
from retrolex.collection.readers.files import files_of_kind
from retrolex.collection.readers.lines import NOT_UTF8
from retrolex.collection.readers.records import Columns, Place, Reader, Record, Reject
from retrolex.errors import UserError
from retrolex.progress import say

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1024


def files(source: Path) -> list[Path]:
    """The file itself, or the .parquet files of a folder by name."""
    return files_of_kind(source, (".parquet",))


def _values(column: pa.Array) -> list[Any]:
    """A column's values, texts as bytes: whether they are UTF-8 is checked row by row."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.large_binary())
    return column.to_pylist()


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
            for values in zip(*map(_values, batch.columns), strict=True):
                number += 1
                place = Place(str(path), number)
                try:
                    decoded = [value.decode() if isinstance(value, bytes) else value for value in values]
                except UnicodeDecodeError:
                    yield Reject(place, NOT_UTF8)
                    continue
                yield document_of(dict(zip(batch.schema.names, decoded, strict=True)), columns, place, place_id(place, len(paths)))


READER = Reader("Parquet, one file or a folder of them", files, read, has_columns=True)
