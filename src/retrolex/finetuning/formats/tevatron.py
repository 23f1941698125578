"""Tevatron, both styles: rows that name documents of a separate corpus, and the older ones that hold their passages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from retrolex.collection.documents import Document
from retrolex.finetuning.formats.fields import Fields, json_reader, json_writer
from retrolex.finetuning.formats.rows import Format, Passage, Row


def parse_ids(row: Fields) -> Row:
    """{"query_id", "query_text", "positive_document_ids", "negative_document_ids"}."""
    positives, negatives = (
        tuple(Passage(row.as_id(value, name)) for value in row.list(name)) for name in ("positive_document_ids", "negative_document_ids")
    )
    return Row(row.id("query_id"), row.text("query_text"), positives, negatives, row.place)


def plain_ids(row: Row) -> dict[str, Any]:
    """The reverse of `parse_ids`."""
    return {
        "query_id": row.query_id,
        "query_text": row.query,
        "positive_document_ids": [passage.id for passage in row.positives],
        "negative_document_ids": [passage.id for passage in row.negatives],
    }


def write_corpus(path: Path, documents: Iterable[Document]) -> None:
    """The corpus that goes with rows of ids: {"docid", "document_text"}."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for document in documents:
            file.write(json.dumps({"docid": document.id, "document_text": document.full}, ensure_ascii=False) + "\n")


def parse_passages(row: Fields) -> Row:
    """{"query_id", "query", "positive_passages": [{"docid", "title", "text"}], "negative_passages": [...]}."""
    positives, negatives = (tuple(_passage(row, value, name) for value in row.list(name)) for name in ("positive_passages", "negative_passages"))
    return Row(row.id("query_id", default=""), row.text("query"), positives, negatives, row.place)


def plain_passages(row: Row) -> dict[str, Any]:
    """The reverse of `parse_passages`."""
    return {
        "query_id": row.query_id,
        "query": row.query,
        "positive_passages": [_plain(passage) for passage in row.positives],
        "negative_passages": [_plain(passage) for passage in row.negatives],
    }


def _passage(row: Fields, value: Any, name: str) -> Passage:
    if not isinstance(value, dict):
        row.refuse(f"{name!r} holds {value!r}, an object with docid, title and text was expected")
    one = Fields(value, row.place)
    title = "" if value.get("title") is None else one.text("title")
    return Passage(one.id("docid", default=""), one.text("text"), title)


def _plain(passage: Passage) -> dict[str, str | None]:
    return {"docid": passage.id, "title": passage.title, "text": passage.text}


IDS = Format("Tevatron: ids of positives and negatives, and a corpus file", json_reader(parse_ids), json_writer(plain_ids), texts=False)
PASSAGES = Format("Tevatron's older style: positive_passages and negative_passages", json_reader(parse_passages), json_writer(plain_passages))
