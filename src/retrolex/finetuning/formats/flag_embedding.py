"""FlagEmbedding: {"query", "pos", "neg"}, with ``pos_scores`` and ``neg_scores`` where a teacher gave them. There are no ids."""

from __future__ import annotations

from typing import Any

from retrolex.finetuning.formats.fields import Fields, json_reader, json_writer
from retrolex.finetuning.formats.rows import Format, Passage, Row


def parse(row: Fields) -> Row:
    """A row of texts."""
    positives, negatives = (
        tuple(
            Passage(text=row.unicode(text, name), score=score)
            for text, score in zip(row.list(name), row.scores(f"{name}_scores", len(row.list(name))), strict=True)
        )
        for name in ("pos", "neg")
    )
    return Row("", row.text("query"), positives, negatives, row.place)


def plain(row: Row) -> dict[str, Any]:
    """The reverse of `parse`; scores only where every passage has one."""
    positives, negatives = ([passage.full for passage in part] for part in (row.positives, row.negatives))
    values: dict[str, Any] = {"query": row.query, "pos": positives, "neg": negatives}
    scores = [passage.score for passage in (*row.positives, *row.negatives)]
    if scores and None not in scores:
        values |= {"pos_scores": scores[: len(row.positives)], "neg_scores": scores[len(row.positives) :]}
    return values


FORMAT = Format("FlagEmbedding: query, pos, neg, pos_scores, neg_scores", json_reader(parse), json_writer(plain))
