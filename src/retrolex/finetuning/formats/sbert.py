"""Hard negatives in the form of sentence-transformers' MS MARCO file, which GPL writes too: {"qid", "pos": [...], "neg": {miner: [...]}}."""

from __future__ import annotations

from typing import Any

from retrolex.finetuning.formats.fields import Fields, json_reader, json_writer
from retrolex.finetuning.formats.rows import Format, Passage, Row


def parse(row: Fields) -> Row:
    """A row of ids, the negatives by miner."""
    positives = tuple(Passage(row.as_id(value, "pos")) for value in row.list("pos"))
    miners = row.values.get("neg")
    if not isinstance(miners, dict):
        row.refuse("'neg' was expected to be an object: the name of each miner, and a list of ids")
    named = Fields(miners, row.place)
    negatives = tuple(Passage(row.as_id(value, miner), miner=miner) for miner in miners for value in named.list(miner))
    return Row(row.id("qid"), None, positives, negatives, row.place)


def plain(row: Row) -> dict[str, Any]:
    """The reverse of `parse`."""
    miners: dict[str, list[str]] = {}
    for passage in row.negatives:
        miners.setdefault(passage.miner, []).append(passage.id)
    return {"qid": row.query_id, "pos": [passage.id for passage in row.positives], "neg": miners}


ABOUT = "MS MARCO hard negatives by miner, ids only (sentence-transformers, GPL)"
FORMAT = Format(ABOUT, json_reader(parse), json_writer(plain), texts=False, queries=False)
