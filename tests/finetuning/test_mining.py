"""Mining from several pools: against an obvious twin, through every way of falling short, and across a kill."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrolex.errors import UserError
from retrolex.finetuning import negatives as module
from retrolex.finetuning.negatives import NEGATIVES, MiningOptions, mine, mine_pools, read_negatives
from retrolex.finetuning.pairs import Pair, known_positives
from retrolex.finetuning.pools import RunPool, SearchPool
from retrolex.finetuning.ranked import Ranked

IDS = [f"d{number}" for number in range(12)]
ALONE = np.arange(12)  # no two documents of the same text


def pair(query: str, document: str, original: str | None = None) -> Pair:
    return Pair(query, f"text of {document}", document, original or document, "labelled", f"id of {query}")


def pool(name: str, ranking: dict[str, list[tuple[str, float]]], first: int = 1, depth: int = 100) -> SearchPool:
    def search(texts: list[str], k: int) -> list[tuple[np.ndarray, np.ndarray]]:
        hits = [ranking.get(text, [])[:k] for text in texts]
        return [(np.array([IDS.index(id) for id, _ in row], np.int64), np.array([score for _, score in row], np.float32)) for row in hits]

    return SearchPool(name, search, first, depth)


def run(folder: Path, rows: list[tuple[str, str, float]], name: str = "run", depth: int = 100) -> Ranked:
    wanted = {query for query, _, _ in rows}
    return Ranked.write(folder / name, rows, lambda id: IDS.index(id) if id in IDS else None, wanted, depth)


def falling(*ids: str) -> list[tuple[str, float]]:
    return [(id, 10.0 - place) for place, id in enumerate(ids)]


def mined(pairs, pools, folder: Path, originals=ALONE, *, known=None, teacher=None, **options):
    counts = mine_pools(pairs, pools, IDS, originals, folder, MiningOptions(**options), known=known, teacher=teacher)
    return counts, read_negatives(folder / NEGATIVES)


def names(row) -> list[tuple[str, str, int]]:
    return [(negative.document, negative.miner, negative.rank) for negative in row]


def test_pools_share_evenly_and_keep_provenance(tmp_path: Path) -> None:
    pools = [pool("bm25", {"q": falling("d0", "d1", "d2", "d3")}), pool("dense", {"q": falling("d4", "d1", "d5")})]
    counts, (row,) = mined([pair("q", "d0")], pools, tmp_path, per_query=3, sampling="top")
    assert names(row) == [("d1", "bm25", 2), ("d2", "bm25", 3), ("d4", "dense", 1)] and row[2].score == 10.0
    assert counts == {"pairs": 1, "mined": 3, "random": 0, "repeats": 0, "from bm25": 2, "from dense": 1}


def test_a_short_pool_is_filled_from_the_next_and_counted_by_reason(tmp_path: Path) -> None:
    pools = [pool("bm25", {"q": falling("d0", "d1")}), pool("dense", {"q": falling("d1", "d2", "d3", "d4", "d5")})]
    counts, (row,) = mined([pair("q", "d0")], pools, tmp_path, per_query=4, sampling="top")
    assert names(row) == [("d1", "bm25", 2), ("d2", "dense", 2), ("d3", "dense", 3), ("d4", "dense", 4)]
    assert counts["bm25 short: too few hits"] == 1 and counts["filled from dense"] == 1 and counts["random"] == 0


def test_the_last_pool_is_filled_from_the_first(tmp_path: Path) -> None:
    pools = [pool("bm25", {"q": falling("d0", "d1", "d2", "d3")}), pool("dense", {"q": falling("d0")})]
    counts, (row,) = mined([pair("q", "d0")], pools, tmp_path, per_query=2, sampling="top")
    assert names(row) == [("d1", "bm25", 2), ("d2", "bm25", 3)] and counts["filled from bm25"] == 1


def test_then_random_then_repeats(tmp_path: Path) -> None:
    counts, (row,) = mined([pair("q", "d0")], [pool("bm25", {"q": falling("d0", "d1")})], tmp_path, per_query=15)
    assert len(row) == 15 and {negative.document for negative in row} == set(IDS) - {"d0"}
    assert (counts["mined"], counts["random"], counts["repeats"]) == (1, 10, 4)
    assert all((negative.rank, negative.score) == (0, 0.0) for negative in row if negative.miner == "random")


def test_a_query_that_a_run_does_not_have(tmp_path: Path) -> None:
    pools = [RunPool("run", run(tmp_path, [("id of q", "d1", 2.0)]))]
    counts, rows = mined([pair("q", "d0"), pair("other", "d3")], pools, tmp_path, per_query=1)
    assert names(rows[0]) == [("d1", "run", 1)] and rows[1][0].miner == "random"
    assert counts["run short: query not in it"] == 1 and counts["random"] == 1


def test_ranks_count_everything_but_only_the_range_is_sampled(tmp_path: Path) -> None:
    ranking = {"q": falling("d1", "d0", "d2", "d3", "d4")}
    _, (row,) = mined([pair("q", "d0")], [pool("bm25", ranking, first=3, depth=4)], tmp_path, per_query=2)
    assert names(row) == [("d2", "bm25", 3), ("d3", "bm25", 4)]


def test_unknown_documents_of_a_run_keep_their_rank(tmp_path: Path) -> None:
    ranked = run(tmp_path, [("id of q", "gone", 9.0), ("id of q", "d1", 8.0)])
    _, (row,) = mined([pair("q", "d0")], [RunPool("run", ranked)], tmp_path, per_query=1)
    assert names(row) == [("d1", "run", 2)] and ranked.counts["documents not in the collection"] == 1


def test_other_positives_and_copies_are_no_negatives(tmp_path: Path) -> None:
    originals = ALONE.copy()
    originals[5], originals[6] = 1, 2  # d5 is a copy of d1, d6 of d2
    ranking = {"q": falling("d0", "d1", "d5", "d2", "d6", "d3")}
    pairs = [pair("q", "d0"), pair("q", "d1")]
    _, rows = mined(pairs, [pool("bm25", ranking)], tmp_path, originals, known={"q": {"d3"}}, per_query=1, sampling="top")
    assert [names(row) for row in rows] == [[("d2", "bm25", 4)]] * 2


@pytest.mark.parametrize(
    ("margins", "kept"),
    [
        ({"absolute_margin": 0.0}, ["d3", "d4", "d5"]),
        ({"absolute_margin": 1.0}, ["d3", "d4", "d5"]),
        ({"absolute_margin": 1.5}, ["d4", "d5"]),
        ({"relative_margin": 0.25}, ["d4", "d5"]),
        ({"relative_margin": 0.25, "absolute_margin": 3.0}, ["d5"]),
    ],
)
def test_margins_against_the_positive(tmp_path: Path, margins, kept) -> None:
    """Scores 10, 9, 8, 7, 6, 5, the positive's 8: by hand."""
    ranking = {"q": falling("d1", "d2", "d0", "d3", "d4", "d5")}
    counts, (row,) = mined([pair("q", "d0")], [pool("dense", ranking)], tmp_path, per_query=len(kept), sampling="top", **margins)
    assert [negative.document for negative in row] == kept
    assert counts["dense: too close to the positive"] == 5 - len(kept)


def test_a_relative_margin_works_below_zero(tmp_path: Path) -> None:
    ranking = {"q": [("d0", -1.0), ("d1", -1.05), ("d2", -1.2)]}
    _, (row,) = mined([pair("q", "d0")], [pool("dense", ranking)], tmp_path, per_query=1, sampling="top", relative_margin=0.1)
    assert row[0].document == "d2"


def test_a_margin_without_the_positives_score_takes_nothing_and_says_so(tmp_path: Path) -> None:
    counts, (row,) = mined([pair("q", "d0")], [pool("dense", {"q": falling("d1")})], tmp_path, per_query=1, absolute_margin=1.0)
    assert row[0].document == "d1" and counts["dense: positive not ranked"] == 1


def test_what_a_margin_takes_is_the_reason_for_a_gap(tmp_path: Path) -> None:
    ranking = {"q": falling("d1", "d2", "d0")}
    counts, (row,) = mined([pair("q", "d0")], [pool("dense", ranking)], tmp_path, per_query=1, absolute_margin=0.0)
    assert row[0].miner == "random" and counts["dense short: too close to the positive"] == 1


def test_a_margin_against_teacher_scores(tmp_path: Path) -> None:
    """The teacher finds d1 as good as the positive, d2 a little worse, d3 far worse, and has not read d4."""
    scores = [("id of q", "d0", 5.0), ("id of q", "d1", 5.0), ("id of q", "d2", 4.0), ("id of q", "d3", -2.0)]
    pools, teacher = [pool("bm25", {"q": falling("d0", "d1", "d2", "d3", "d4")})], run(tmp_path, scores)
    counts, (row,) = mined([pair("q", "d0")], pools, tmp_path, per_query=2, sampling="top", teacher=teacher, teacher_margin=3.0)
    assert [negative.document for negative in row] == ["d3", "d4"]
    assert counts["bm25: too close to the positive"] == 2 and counts["bm25: hits without a teacher score"] == 1


def test_a_teacher_that_has_not_read_the_positive(tmp_path: Path) -> None:
    teacher = run(tmp_path, [("id of q", "d1", 5.0)])
    pools = [pool("bm25", {"q": falling("d0", "d1"), "other": falling("d3", "d4")})]
    counts, _ = mined([pair("q", "d0"), pair("other", "d3")], pools, tmp_path, per_query=1, teacher=teacher, teacher_margin=3.0)
    assert counts["bm25: positive without a teacher score"] == 2


rankings = st.lists(st.sampled_from(IDS), unique=True, max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(rankings, min_size=1, max_size=3), st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True), st.integers(1, 9),
       st.integers(1, 3), st.lists(st.integers(0, 8), min_size=12, max_size=12))  # fmt: skip
def test_equals_the_obvious_twin(tmp_path: Path, rankings, positives, per_query: int, first: int, texts) -> None:
    """Every negative is where its miner ranked it, none answers the query, none comes twice, and only what is left over is random."""
    originals = np.array([texts.index(text) for text in texts])
    named = [IDS[place] for place in originals]
    pairs = [pair("q", id, named[IDS.index(id)]) for id in positives]
    pools = [pool(f"pool {number}", {"q": falling(*ranking)}, first) for number, ranking in enumerate(rankings)]
    known = known_positives(pairs)["q"]
    if set(named) <= known:
        with pytest.raises(UserError, match="every document answers"):
            mined(pairs, pools, tmp_path, originals, per_query=per_query)
        return
    _, rows = mined(pairs, pools, tmp_path, originals, per_query=per_query)
    possible = set()
    for ranking in rankings:
        seen = set()
        for rank, id in enumerate(ranking, 1):
            text = named[IDS.index(id)]
            if rank >= first and text not in known and text not in seen:
                possible.add(text)
            seen.add(text)
    for row in rows:
        distinct = {negative.original for negative in row}
        assert len(row) == per_query and not known & distinct
        assert len(distinct) == min(per_query, len(set(named) - known))
        found = [negative for negative in row if negative.miner != "random"]
        for negative in found:
            assert rankings[int(negative.miner.split()[1])][negative.rank - 1] == negative.document
        assert len({negative.original for negative in found}) == min(per_query, len(possible))


def test_a_run_mines_what_its_index_mines(tmp_path: Path) -> None:
    ranking = {f"q{number}": falling(*IDS[number:]) for number in range(5)}
    pairs = [pair(f"q{number}", IDS[number]) for number in range(5)]
    rows = [(f"id of {query}", id, score) for query, hits in ranking.items() for id, score in hits]
    ranked = run(tmp_path, sorted(rows, key=lambda row: row[1]), depth=6)  # not grouped by query
    _, one = mined(pairs, [pool("x", ranking, depth=6)], tmp_path, per_query=3)
    _, other = mined(pairs, [RunPool("x", ranked, depth=6)], tmp_path, per_query=3)
    assert one == other


def test_killed_at_any_block_it_ends_in_the_same_bytes(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 3)
    ranking = {f"q{number}": falling(*IDS) for number in range(10)}
    pairs, options = [pair(f"q{number}", IDS[number]) for number in range(10)], MiningOptions(per_query=2)
    whole = tmp_path / "whole"
    whole.mkdir()
    expected = mine_pools(pairs, [pool("x", ranking)], IDS, ALONE, whole, options)
    for survives in range(4):
        folder, asked = tmp_path / str(survives), []

        def search(texts, depth, survives=survives, asked=asked):
            if len(asked) == survives:
                raise KeyboardInterrupt
            asked.append(texts)
            return pool("x", ranking).search(texts, depth)

        folder.mkdir()
        with pytest.raises(KeyboardInterrupt):
            mine(pairs, search, "x", IDS, ALONE, folder, options)
        assert not (folder / NEGATIVES).exists()
        again = []
        rest = mine(
            pairs, lambda texts, depth, again=again: again.append(texts) or pool("x", ranking).search(texts, depth), "x", IDS, ALONE, folder, options
        )
        assert rest == expected and len(again) == 4 - survives  # nothing is searched twice
        assert (folder / NEGATIVES).read_bytes() == (whole / NEGATIVES).read_bytes()
        assert [path.name for path in folder.iterdir()] == [NEGATIVES]


def test_other_options_start_afresh(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 1)
    pairs, ranking, asked = [pair("q", "d0"), pair("r", "d1")], {"q": falling(*IDS), "r": falling(*IDS)}, []

    def search(texts, depth):
        if asked:
            raise KeyboardInterrupt
        asked.append(texts)
        return pool("x", ranking).search(texts, depth)

    with pytest.raises(KeyboardInterrupt):
        mine(pairs, search, "x", IDS, ALONE, tmp_path, MiningOptions(per_query=2))
    _, rows = mined(pairs, [pool("x", ranking)], tmp_path, per_query=3)
    assert [len(row) for row in rows] == [3, 3]


@pytest.mark.parametrize(
    ("pools", "options", "words"),
    [
        ([], {}, "no pool"),
        ([pool("a", {}), pool("a", {})], {}, "same name"),
        ([pool("a", {}, first=5, depth=4)], {}, "ranks 5 to 4"),
        ([pool("a", {}, first=0)], {}, "ranks 0"),
        ([pool("a", {})], {"per_query": -1}, "-1 negatives"),
        ([pool("a", {})], {"teacher_margin": 1.0}, "no teacher scores"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, pools, options, words) -> None:
    with pytest.raises(UserError, match=words):
        mined([pair("q", "d0")], pools, tmp_path, **options)


def test_a_damaged_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / NEGATIVES).write_text('[]\n[{"document": "d1"}]\n')
    with pytest.raises(UserError, match=r"negatives\.jsonl:2"):
        read_negatives(tmp_path / NEGATIVES)
