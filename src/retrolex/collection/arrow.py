"""Arrow IPC files written row by row in bounded memory, and read back memory-mapped."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from retrolex.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 8192
BATCH_CHARACTERS = 16 << 20  # long documents close a batch early: memory stays flat, and 32-bit offsets never overflow

DOCUMENTS = ("documents.arrow", {"id": "string", "title": "string", "text": "string"})
QUERIES = ("queries.arrow", {"id": "string", "text": "string"})
QRELS = ("qrels.arrow", {"split": "string", "query": "string", "document": "string", "grade": "int32"})


class TableWriter:
    """Appends rows to an Arrow IPC file in record batches; equal rows give equal bytes. Use it in a `with` statement."""

    def __init__(self, folder: Path, table: tuple[str, dict[str, str]]):
        import pyarrow as pa

        name, columns = table
        self._schema = pa.schema([(column, pa.type_for_alias(kind)) for column, kind in columns.items()])
        self._sink = pa.OSFile(str(folder / name), "wb")
        self._file = pa.ipc.new_file(self._sink, self._schema)
        self._rows: list[tuple[Any, ...]] = []
        self._characters = 0

    def add(self, row: tuple[Any, ...]) -> None:
        """Append one row, its values in the order of the table's columns."""
        self._rows.append(row)
        self._characters += len(row[-1]) if isinstance(row[-1], str) else 0
        if len(self._rows) == BATCH_ROWS or self._characters > BATCH_CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            columns = [pa.array(values, field.type) for values, field in zip(zip(*self._rows, strict=True), self._schema, strict=True)]
            self._file.write_batch(pa.record_batch(columns, schema=self._schema))
        self._rows, self._characters = [], 0

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self._flush()
        self._file.close()
        self._sink.close()


def read_batches(folder: Path, table: tuple[str, dict[str, str]]) -> list[pa.RecordBatch]:
    """The record batches of one table, memory-mapped: nothing is read before it is looked at.

    Raises:
        UserError: the file is missing, damaged, or holds other columns.
    """
    import pyarrow as pa

    name, columns = table
    path = Path(folder) / name
    if not path.is_file():
        raise UserError(f"no collection here: {name} is missing", where=folder, mend="import the collection first, or name its folder")
    try:
        file = pa.ipc.open_file(pa.memory_map(str(path)))
        batches = [file.get_batch(i) for i in range(file.num_record_batches)]
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"a damaged Arrow file: {error}", where=path, mend=f"delete {folder} and import the collection again") from None
    if file.schema.names != list(columns):
        raise UserError(
            f"columns {file.schema.names} instead of {list(columns)}", where=path, mend=f"delete {folder} and import the collection again"
        )
    return batches
