"""One small file a format, and how the format of a source is recognised."""

from __future__ import annotations

from pathlib import Path

from retrolex.collection.readers import (
    beir_folder,
    csv_file,
    hf_dataset,
    ir_datasets_id,
    jsonl_file,
    line_file,
    msmarco_folder,
    parquet_file,
    sample,
    text_folder,
    trec_folder,
    tsv_file,
)
from retrolex.collection.readers.files import existing
from retrolex.collection.readers.lines import kind_of
from retrolex.collection.readers.records import Reader
from retrolex.errors import UserError

READERS: dict[str, Reader] = {
    "beir": beir_folder.READER,
    "msmarco": msmarco_folder.READER,
    "trec": trec_folder.READER,
    "jsonl": jsonl_file.READER,
    "csv": csv_file.READER,
    "tsv": tsv_file.READER,
    "parquet": parquet_file.READER,
    "text_folder": text_folder.READER,
    "lines": line_file.READER,
    "hf": hf_dataset.READER,
    "ir_datasets": ir_datasets_id.READER,
    "sample": sample.READER,
}
TABLES = {**dict.fromkeys(jsonl_file.KINDS, "jsonl"), ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
BY_SUFFIX = {**TABLES, ".txt": "lines", **dict.fromkeys(trec_folder.KINDS, "trec")}
PREFIXES = {hf_dataset.PREFIX: "hf", ir_datasets_id.PREFIX: "ir_datasets"}
CHOICES = "say which reader to use: " + ", ".join(READERS)


def detect(source: str | Path) -> str:
    """The name of the reader for a source: a file, a folder, `hf:NAME`, `ir_datasets:ID`, or the name of a collection that comes with retrolex.

    Raises:
        UserError: nothing is there, or its format is not one of ours.
    """
    if str(source) in sample.SAMPLES:
        return "sample"
    if by_prefix := [name for prefix, name in PREFIXES.items() if str(source).startswith(prefix)]:
        return by_prefix[0]
    path = existing(Path(source))
    return _kind_of_file(path) if path.is_file() else _kind_of_folder(path)


def _kind_of_file(path: Path) -> str:
    if kind_of(path) in BY_SUFFIX and (kind_of(path) != ".txt" or not trec_folder.holds_documents(path)):
        return BY_SUFFIX[kind_of(path)]
    if trec_folder.holds_documents(path):
        return "trec"
    raise UserError(f"files ending in {path.suffix or 'nothing'} are not known", where=path, mend=CHOICES)


def _kind_of_folder(path: Path) -> str:
    for name, reader in (("beir", beir_folder), ("hf", hf_dataset), ("msmarco", msmarco_folder)):
        if reader.matches(path):
            return name
    names = {entry.name for entry in path.iterdir()}
    if trec_folder.holds_documents(path):
        return "trec"
    if not names.isdisjoint(("queries.jsonl", "queries.jsonl.gz", "qrels")):
        raise UserError("queries or judgments, but no corpus.jsonl in this folder", where=path, mend="put the documents in corpus.jsonl")
    found = {TABLES[kind_of(Path(name))] for name in names if kind_of(Path(name)) in TABLES and not name.startswith(".")}
    if len(found) > 1:
        raise UserError(f"files of several formats in this folder: {', '.join(sorted(found))}", where=path, mend=CHOICES)
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
