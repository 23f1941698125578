"""Our own rows: everything that is known of each passage, one JSON object a line."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from retrolex.finetuning.formats.fields import Fields, json_reader, json_writer
from retrolex.finetuning.formats.rows import Format, Passage, Row

DEFAULTS = {field.name: field.default for field in fields(Passage)}


def parse(row: Fields) -> Row:
    """{"query_id", "query", "positives": [{"id", "text", ...}], "negatives": [...]}."""
    positives, negatives = ([_passage(row, value, name) for value in row.list(name)] for name in ("positives", "negatives"))
    return Row(row.id("query_id", default=""), row.text("query", default=None), tuple(positives), tuple(negatives), row.place)


def plain(row: Row) -> dict[str, Any]:
    """The reverse of `parse`; what a passage does not have is left out."""
    query = {} if row.query is None else {"query": row.query}
    return {"query_id": row.query_id, **query, "positives": [*map(_plain, row.positives)], "negatives": [*map(_plain, row.negatives)]}


def _passage(row: Fields, value: Any, name: str) -> Passage:
    if not isinstance(value, dict):
        row.refuse(f"{name!r} holds {value!r}, an object was expected")
    if unknown := sorted(set(value) - set(DEFAULTS)):
        row.refuse(f"{name!r} holds a passage with {unknown[0]!r}; known are {', '.join(DEFAULTS)}")
    one = Fields(value, row.place)
    rank = value.get("rank", 0)
    if isinstance(rank, bool) or not isinstance(rank, int):
        row.refuse(f"'rank' holds {rank!r}, a whole number was expected")
    return Passage(
        one.id("id", default=""),
        one.text("text", default=None),
        one.text("title", default=""),
        one.number(value.get("score"), "score"),
        one.text("miner", default=""),
        rank,
        one.number(value.get("mined_score"), "mined_score") or 0.0,
    )


def _plain(passage: Passage) -> dict[str, Any]:
    return {name: value for name, default in DEFAULTS.items() if (value := getattr(passage, name)) != default}


FORMAT = Format("our own rows, with the provenance of every negative", json_reader(parse), json_writer(plain))
