"""Arrow record batches as rows, texts decoded row by row, so that bytes that are not UTF-8 cost one row and no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1024


def rows_of(batch: pa.RecordBatch) -> Iterator[dict[str, Any] | None]:
    """Each row by column name; None for a row with text that is not UTF-8.

    Raises:
        pyarrow.ArrowInvalid: offsets that point outside of the batch, as in a damaged file.
    """
    for values in zip(*map(_values, batch.columns), strict=True):
        try:
            decoded = [value.decode() if isinstance(value, bytes) else value for value in values]
        except UnicodeDecodeError:
            yield None
            continue
        yield dict(zip(batch.schema.names, decoded, strict=True))


def _values(column: pa.Array) -> list[Any]:
    """A column's values, texts as bytes."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    for text, binary in ((pa.types.is_string, pa.binary()), (pa.types.is_large_string, pa.large_binary())):
        if text(column.type):
            column = column.view(binary)
    column.validate(full=True)
    return column.to_pylist()
