"""sentence-transformers: columns by their order, anchor, positive, negative_1 ... negative_n, in jsonl or Parquet.

A column ``scores`` holds one number for the positive and one for each negative, as the distillation losses take them. There are no ids.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from retrolex.collection.readers.jsonl_file import Row as Object
from retrolex.collection.readers.jsonl_file import read_objects
from retrolex.collection.readers.lines import kind_of
from retrolex.collection.readers.records import Place, Reject
from retrolex.errors import UserError
from retrolex.finetuning.formats.fields import Fields
from retrolex.finetuning.formats.rows import Format, Passage, Row

SCORES = ("scores", "score", "labels", "label")  # names that the library takes for a label
BATCH_ROWS = 1024


def read(path: Path) -> Iterator[Row | Reject]:
    """Rows of one positive each; whatever the text columns are called, their order counts."""
    for row in _parquet(path) if kind_of(path) == ".parquet" else read_objects(path):
        yield row if isinstance(row, Reject) else _parse(Fields(row.values, row.place))


def _parse(row: Fields) -> Row:
    names = [name for name in row.values if name not in SCORES]
    if len(names) < 2:
        row.refuse(f"{len(names)} text columns, at least an anchor and a positive were expected")
    query, *texts = (row.text(name) for name in names)
    label = next((name for name in SCORES if name in row.values), None)
    value = row.values.get(label)
    scores = [row.number(value, label)] if isinstance(value, (int, float)) else row.scores(label, len(texts)) if label else []
    scores += [None] * (len(texts) - len(scores))
    passages = [Passage(text=text, score=score) for text, score in zip(texts, scores, strict=True)]
    return Row("", query, (passages[0],), tuple(passages[1:]), row.place)


def _parquet(path: Path) -> Iterator[Object]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(BATCH_ROWS):
                for values in batch.to_pylist():
                    number += 1
                    yield Object(Place(str(path), number), values)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"not a Parquet file, or a damaged one: {str(error)[:200]}", where=path, mend="write or copy the file again") from None


def write(path: Path, rows: Iterable[Row]) -> dict[str, int]:
    """One line a positive. All rows have as many negatives as the first, since columns have no gaps.

    A column ``scores`` is written when the first row has all of its scores; a later row without gets null, and is counted.

    Raises:
        UserError: a row with another number of negatives.
    """
    lines = ((row.query, positive, *row.negatives) for row in rows for positive in row.positives)
    first = next(lines, None)
    if first is None:
        raise UserError("no rows to write", where=path)
    names = ["anchor", "positive", *(f"negative_{number}" for number in range(1, len(first) - 1))]
    scored, counts = _scores(first) is not None, Counter({"rows": 0})
    plain = (_plain(line, names, scored, counts) for line in chain([first], lines))
    if kind_of(path) == ".parquet":
        _write_parquet(path, plain, names, scored)
    else:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in plain)
    return dict(counts)


def _plain(line: tuple[Any, ...], names: list[str], scored: bool, counts: Counter[str]) -> dict[str, Any]:
    query, *passages = line
    counts["rows"] += 1
    if len(line) != len(names):
        raise UserError(
            f"row {counts['rows']} ({query!r}) has {len(passages) - 1} negatives, the first row {len(names) - 2}",
            mend="mine as many for every query, or choose a format that lists them, such as tevatron",
        )
    values: dict[str, Any] = dict(zip(names, (query, *(passage.full for passage in passages)), strict=True))
    if scored:
        values["scores"] = _scores(line)
        counts.update({"rows without scores": 1} if values["scores"] is None else {})
    return values


def _scores(line: tuple[Any, ...]) -> list[float] | None:
    scores = [passage.score for passage in line[1:]]
    return None if None in scores else scores


def _write_parquet(path: Path, lines: Iterator[dict[str, Any]], names: list[str], scored: bool) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [(name, pa.string()) for name in names] + ([("scores", pa.list_(pa.float64()))] if scored else [])
    schema = pa.schema(columns)
    with pq.ParquetWriter(path, schema) as file:
        while batch := list(islice(lines, BATCH_ROWS)):
            file.write_batch(pa.RecordBatch.from_pylist(batch, schema))


ABOUT = "sentence-transformers: anchor, positive, negative_1 ... (.jsonl or .parquet)"
FORMAT = Format(ABOUT, read, write, grouped=False, suffixes=(".jsonl", ".parquet"))
