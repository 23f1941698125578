"""One small file a format, and how the format of a source is recognised."""

from __future__ import annotations

from pathlib import Path

from retrolex.collection.readers import beir_folder, csv_file, jsonl_file, line_file, parquet_file, sample, text_folder, tsv_file
from retrolex.collection.readers.files import existing
from retrolex.collection.readers.lines import kind_of
from retrolex.collection.readers.records import Reader
from retrolex.errors import UserError

READERS: dict[str, Reader] = {
    "beir": beir_folder.READER,
    "jsonl": jsonl_file.READER,
    "csv": csv_file.READER,
    "tsv": tsv_file.READER,
    "parquet": parquet_file.READER,
    "text_folder": text_folder.READER,
    "lines": line_file.READER,
    "sample": sample.READER,
}
TABLES = {**dict.fromkeys(jsonl_file.KINDS, "jsonl"), ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
BY_SUFFIX = {**TABLES, ".txt": "lines"}


def detect(source: str | Path) -> str:
    """The name of the reader for a source: a file, a folder, or the name of a collection that comes with retrolex.

    Raises:
        UserError: nothing is there, or its format is not one of ours.
    """
    if str(source) in sample.SAMPLES:
        return "sample"
    path = existing(Path(source))
    choices = "say which reader to use: " + ", ".join(READERS)
    if path.is_file():
        if kind_of(path) not in BY_SUFFIX:
            raise UserError(f"files ending in {path.suffix or 'nothing'} are not known", where=path, mend=choices)
        return BY_SUFFIX[kind_of(path)]
    if beir_folder.matches(path):
        return "beir"
    names = {entry.name for entry in path.iterdir()}
    if not names.isdisjoint(("queries.jsonl", "queries.jsonl.gz", "qrels")):
        raise UserError("queries or judgments, but no corpus.jsonl in this folder", where=path, mend="put the documents in corpus.jsonl")
    found = {TABLES[kind_of(Path(name))] for name in names if kind_of(Path(name)) in TABLES and not name.startswith(".")}
    if len(found) > 1:
        raise UserError(f"files of several formats in this folder: {', '.join(sorted(found))}", where=path, mend=choices)
    return found.pop() if found else "text_folder"


def reader_for(source: str | Path, name: str | None = None) -> tuple[str, Reader]:
    """The reader of this name, or the one that fits the source.

    Raises:
        UserError: there is no such reader, or none that fits.
    """
    name = name or detect(source)
    if name not in READERS:
        raise UserError(f"no reader {name!r}", mend="choose one of: " + ", ".join(READERS))
    return name, READERS[name]
