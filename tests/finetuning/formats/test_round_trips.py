"""What is written reads back, in every format, whatever the texts hold; and what a format cannot hold is counted or refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrolex.errors import UserError
from retrolex.finetuning.formats import FORMATS, Passage, Row, read_rows, write_rows
from retrolex.finetuning.formats.msmarco import BREAKS

ODD = [
    "",
    " ",
    "a\tb",
    "line\nbreak\r\n",
    "\ufeffmark",
    "e\u0301 हिन्दी 梵語",
    "\u2028\u2029\x85\x0b\x0c",
    '"quoted" \\ back',
    "\x00\x1f",
    "👩‍👩‍👧",
    "null",
    "[1]",
]
texts = st.one_of(st.sampled_from(ODD), st.text(st.characters(codec="utf-8"), max_size=20))
ids = st.one_of(
    st.sampled_from(["1", "doc 1", "é", "-", "0.5", "None"]),
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8),
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
passages = st.builds(Passage, ids, texts, texts, st.none() | numbers, texts, st.integers(0, 1000), numbers)
rows = st.lists(
    st.builds(Row, ids, texts.filter(str.strip), st.lists(passages, min_size=1, max_size=3).map(tuple), st.lists(passages, max_size=3).map(tuple)),
    min_size=1,
    max_size=4,
)


def simple(passage: Passage, *names: str) -> Passage:
    """Only what a format keeps."""
    return Passage(**{name: getattr(passage, name) for name in names})


def joined(passage: Passage) -> Passage:
    return Passage(text=passage.full)


def kept(row: Row, keep, id: bool = True, query: bool = True) -> Row:
    return Row(row.query_id if id else "", row.query if query else None, tuple(map(keep, row.positives)), tuple(map(keep, row.negatives)))


def by_miner(row: Row) -> Row:
    miners = dict.fromkeys(passage.miner for passage in row.negatives)
    negatives = [passage for miner in miners for passage in row.negatives if passage.miner == miner]
    return replace(row, query=None, positives=tuple(simple(passage, "id") for passage in row.positives),
                   negatives=tuple(simple(passage, "id", "miner") for passage in negatives))  # fmt: skip


def with_scores(row: Row) -> Row:
    scored = None not in [passage.score for passage in (*row.positives, *row.negatives)]
    return kept(row, lambda passage: Passage(text=passage.full, score=passage.score if scored else None), id=False)


EXPECTED = {
    "retrolex": lambda row: row,
    "tevatron": lambda row: kept(row, lambda passage: simple(passage, "id")),
    "tevatron-passages": lambda row: kept(row, lambda passage: simple(passage, "id", "title", "text")),
    "flagembedding": with_scores,
    "sbert": by_miner,
}


def back(path: Path, name: str) -> list[Row]:
    return list(read_rows(path, name))


@pytest.mark.parametrize("name", EXPECTED)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows)
def test_rows_of_lists(tmp_path: Path, name: str, rows: list[Row]) -> None:
    assert write_rows(tmp_path / "rows.jsonl", name, rows) == {"rows": len(rows)}
    assert back(tmp_path / "rows.jsonl", name) == [EXPECTED[name](row) for row in rows]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows, size=st.integers(0, 3), scored=st.booleans())
def test_columns(tmp_path: Path, suffix: str, rows: list[Row], size: int, scored: bool) -> None:
    def line(row: Row, positive: Passage) -> Row:
        return replace(row, positives=(positive,), negatives=(row.negatives * 3)[:size])

    rows = [line(row, positive) for row in rows if len(row.negatives) or not size for positive in row.positives]
    if not scored:
        rows = [kept(row, lambda passage: replace(passage, score=None)) for row in rows]
    else:
        rows = [kept(row, lambda passage: replace(passage, score=passage.score or 0.5)) for row in rows]
    path = tmp_path / f"rows.{suffix}"
    if not rows:
        with pytest.raises(UserError, match="no rows"):
            write_rows(path, "sentence-transformers", rows)
        return
    assert write_rows(path, "sentence-transformers", rows) == {"rows": len(rows)}
    assert back(path, "sentence-transformers") == [with_scores(row) for row in rows]


def triples(rows: list[Row]) -> list[tuple[Row, Passage, Passage]]:
    return [(row, positive, negative) for row in rows for positive in row.positives for negative in row.negatives]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows)
def test_triples_of_texts(tmp_path: Path, rows: list[Row]) -> None:
    counts = write_rows(tmp_path / "rows.tsv", "msmarco-texts", rows)
    clean = [[BREAKS.sub(" ", text) for text in (row.query, positive.full, negative.full)] for row, positive, negative in triples(rows)]
    clean = [line for line in clean if "\t".join(line).strip()]
    assert back(tmp_path / "rows.tsv", "msmarco-texts") == [Row("", q, (Passage(text=p),), (Passage(text=n),)) for q, p, n in clean]
    assert counts["rows"] == len(clean) and counts.get("rows without a negative, left out", 0) == sum(not row.negatives for row in rows)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows)
def test_triples_of_ids(tmp_path: Path, rows: list[Row]) -> None:
    write_rows(tmp_path / "rows.tsv", "msmarco-ids", rows)
    expected = [Row(row.query_id, None, (Passage(positive.id),), (Passage(negative.id),)) for row, positive, negative in triples(rows)]
    assert back(tmp_path / "rows.tsv", "msmarco-ids") == expected


def test_every_format_has_a_round_trip() -> None:
    assert set(FORMATS) == {*EXPECTED, "sentence-transformers", "msmarco-ids", "msmarco-texts"}


def test_a_tab_in_an_id_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    row = Row("q\t1", "a", (Passage("d1", "x"),), (Passage("d2", "y"),))
    with pytest.raises(UserError, match="cannot stand in a file of triples"):
        write_rows(tmp_path / "rows.tsv", "msmarco-ids", [row])
    assert not list(tmp_path.iterdir())


def test_columns_have_no_gaps(tmp_path: Path) -> None:
    two, one = (Row("", "q", (Passage(text="p"),), tuple(Passage(text=str(number)) for number in range(count))) for count in (2, 1))
    with pytest.raises(UserError, match=r"row 2 .* has 1 negatives, the first row 2"):
        write_rows(tmp_path / "rows.jsonl", "sentence-transformers", [two, one])
    assert not list(tmp_path.iterdir())


def test_a_row_without_scores_among_scored_ones_is_counted(tmp_path: Path) -> None:
    scored, bare = (Row("", "q", (Passage(text="p", score=score),), ()) for score in (1.0, None))
    for suffix in ("jsonl", "parquet"):
        path = tmp_path / f"rows.{suffix}"
        assert write_rows(path, "sentence-transformers", [scored, bare]) == {"rows": 2, "rows without scores": 1}
        assert back(path, "sentence-transformers") == [scored, bare]
