"""Training rows, whatever format they came in, as what fine-tuning takes: pairs, negatives, and the texts of the negatives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from retrolex.errors import UserError
from retrolex.finetuning.formats.rows import Passage, Row
from retrolex.finetuning.mined import Negative
from retrolex.finetuning.pairs import Pair, digest, pseudo_id, text_id

GIVEN = "given"  # kind of pairs, and miner of negatives, of which nothing else is known


@dataclass(frozen=True)
class TrainingSet:
    """Everything that fine-tuning needs of a file of rows, in memory.

    Attributes:
        pairs: one for every positive of every row.
        negatives: one list a pair.
        texts: document id -> text; passages without an id are called after their text.
        removed: negatives that had the text of a positive of their query.
    """

    pairs: list[Pair]
    negatives: list[list[Negative]]
    texts: dict[str, str]
    removed: int


def training_set(rows: Iterable[Row]) -> TrainingSet:
    """Collect rows; passages of the same text are each other's copies, and a negative that answers its query, in whatever row, is removed.

    Args:
        rows: with all texts, see `formats.resolve`.

    Raises:
        UserError: a row without a positive, or with a text that was not looked up.
    """
    rows, texts, first, original = list(rows), {}, {}, {}
    for row in rows:
        _check(row)
    negatives_first = chain((row.negatives for row in rows), (row.positives for row in rows))  # a positive may be what is left of its document
    for passage in chain.from_iterable(negatives_first):
        id = _id(passage)
        texts.setdefault(id, passage.full)
        original.setdefault(id, first.setdefault(digest(passage.full), id))
    answers: dict[str, set[str]] = {}
    for row in rows:
        answers.setdefault(row.query or "", set()).update(original[_id(passage)] for passage in row.positives)
    pairs, negatives, removed = [], [], 0
    for row in rows:
        found = [
            Negative(id, original[id], passage.miner or GIVEN, passage.rank, passage.mined_score)
            for passage in row.negatives
            if original[id := _id(passage)] not in answers[row.query or ""]
        ]
        removed += len(row.negatives) - len(found)
        for passage in row.positives:
            id = _id(passage)
            pairs.append(Pair(row.query or "", passage.full, id, original[id], GIVEN, row.query_id or pseudo_id(row.query or "")))
            negatives.append(found)
    return TrainingSet(pairs, negatives, texts, removed)


def _check(row: Row) -> None:
    if not row.positives:
        raise UserError("a row without a positive", where=row.place, mend="leave the row out, or name a document that answers the query")
    if row.query is None or any(passage.text is None for passage in (*row.positives, *row.negatives)):
        raise UserError("a row that names its texts only", where=row.place, mend="give the collection that holds them")


def _id(passage: Passage) -> str:
    return passage.id or text_id("text", passage.full)
