"""Mined negatives as training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, groupby

from retrolex.collection import Collection
from retrolex.finetuning.formats.rows import Format, Passage, Row
from retrolex.finetuning.mined import Negative
from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.ranked import Ranked


def mined_rows(
    pairs: Iterable[Pair], negatives: Iterable[list[Negative]], collection: Collection, form: Format, teacher: Ranked | None = None
) -> Iterator[Row]:
    """Rows of a format from pairs and what was mined for them.

    Args:
        pairs, negatives: one list a pair.
        collection: has the texts.
        form: decides whether texts are looked up, and whether neighbouring pairs of one query become one row, in which every
            document occurs once.
        teacher: scores by query id.
    """
    rows = (_row(pair, found, collection, form.texts, teacher) for pair, found in zip(pairs, negatives, strict=True))
    return (_merged(list(group)) for _, group in groupby(rows, key=lambda row: (row.query_id, row.query))) if form.grouped else rows


def _row(pair: Pair, negatives: list[Negative], collection: Collection, texts: bool, teacher: Ranked | None) -> Row:
    score = _scorer(pair.query_id, collection, teacher)
    document = collection[collection.position(pair.document)]
    if pair.positive == document.full:
        positive = Passage(pair.document, document.text, document.title, score(pair.document))
    else:  # a pseudo-query was cut out of it
        positive = Passage(pair.document, pair.positive, score=score(pair.document))
    found = []
    for negative in negatives:
        passage = Passage(negative.document, None, "", score(negative.document), negative.miner, negative.rank, negative.score)
        if texts:
            document = collection[collection.position(negative.document)]
            passage = replace(passage, text=document.text, title=document.title)
        found.append(passage)
    return Row(pair.query_id, pair.query, (positive if texts else replace(positive, text=None, title=""),), tuple(found))


def _scorer(query: str, collection: Collection, teacher: Ranked | None) -> Callable[[str], float | None]:
    if teacher is None or query not in teacher:
        return lambda id: None
    positions, scores = (values.tolist() for values in teacher[query])
    found = dict(zip(reversed(positions), reversed(scores), strict=True))  # of two scores the higher one, which comes first, stays
    return lambda id: found.get(collection.position(id))


def _merged(rows: list[Row]) -> Row:
    positives, negatives = (_once(chain.from_iterable(getattr(row, name) for row in rows)) for name in ("positives", "negatives"))
    return replace(rows[0], positives=positives, negatives=negatives)


def _once(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    found: dict[str, Passage] = {}
    for passage in passages:
        found.setdefault(passage.id, passage)
    return tuple(found.values())
