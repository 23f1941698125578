"""Pairs from a collection: the same every time, nothing in both files, labels first, every judgment accounted for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrolex.collection import Collection, import_collection
from retrolex.errors import UserError
from retrolex.finetuning.pairs import HELD_OUT, SKIPPED, TRAIN, known_positives, originals, pseudo_id, read_pairs
from retrolex.finetuning.pseudo_queries import PairOptions, make_pairs


def made(collection: Collection, folder: Path, **options):
    folder.mkdir(exist_ok=True)
    counts = make_pairs(collection, folder, PairOptions(**options))
    return counts, read_pairs(folder / TRAIN), read_pairs(folder / HELD_OUT)


def test_copies_are_one_original(collection) -> None:
    first = originals(collection)
    assert first[collection.position("d-copy")] == collection.position("d-wing")
    assert (first[:-1] == range(len(collection) - 1)).all()


def test_pseudo_pairs(collection, tmp_path: Path) -> None:
    counts, train, held_out = made(collection, tmp_path / "pairs", count=20)
    assert counts["train"] == len(train) == 20 and counts["held_out"] == len(held_out) == 1 and counts["skipped"] == 0
    assert counts["title"] + counts["lead"] + counts["cloze"] == 20
    assert {pair.document for pair in train}.isdisjoint(pair.document for pair in held_out)
    assert "d-copy" not in {pair.document for pair in train + held_out}
    assert not any(pair.kind == "title" and "wing" in pair.query for pair in train)  # two documents have this title
    once = [(pair.document, pair.kind) for pair in train if pair.kind != "cloze"]
    assert len(once) == len(set(once))


def test_the_same_seed_gives_the_same_bytes(collection, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        made(collection, tmp_path / name, seed=seed)
    a, b, c = ((tmp_path / name / TRAIN).read_bytes() for name in "abc")
    assert a == b != c


def test_shares_decide_the_kinds(collection, tmp_path: Path) -> None:
    counts, train, _ = made(collection, tmp_path / "pairs", shares={"cloze": 1.0})
    assert {pair.kind for pair in train} == {"cloze"} and counts["cloze"] == len(train)


def test_labels_are_used_when_there_are_some(labelled, tmp_path: Path) -> None:
    counts, train, held_out = made(labelled, tmp_path / "pairs", fill=0)
    assert {pair.kind for pair in train + held_out} == {"labelled"} and counts["labelled"] == len(train)
    assert len(train) + len(held_out) == 9  # eight queries, one with two positives; grade 0 is none
    assert {pair.query for pair in train}.isdisjoint(pair.query for pair in held_out)
    assert known_positives(train + held_out)["what is wing"] == {"d-wing", "d-river"}


def test_judgments_beyond_the_count_are_listed(labelled, tmp_path: Path) -> None:
    counts, train, _ = made(labelled, tmp_path / "pairs", count=3)
    rows = [json.loads(line) for line in (tmp_path / "pairs" / SKIPPED).read_text().splitlines()]
    assert len(train) == 3 and counts["skipped"] == len(rows) == 9 - 3 - counts["held_out"]
    assert all(row["reason"] == "beyond the first 3 pairs" for row in rows)


def test_few_labels_are_mixed_with_pseudo_queries_and_held_out_pairs_stay_labelled(labelled, tmp_path: Path) -> None:
    alone, plain, _ = made(labelled, tmp_path / "alone", fill=0)
    counts, train, held_out = made(labelled, tmp_path / "pairs", fill=20, shares={"cloze": 1.0, "keyphrases": 1.0})
    assert len(train) == counts["train"] == 20 and counts["labelled"] == alone["labelled"]
    assert train[: len(plain)] == plain and {pair.kind for pair in train[len(plain) :]} == {"cloze"}
    assert {pair.kind for pair in held_out} == {"labelled"}
    assert {pair.query for pair in train}.isdisjoint(pair.query for pair in held_out)
    counts, train, _ = made(labelled, tmp_path / "few", fill=20, count=len(plain))
    assert train == plain  # never more than were asked for


def test_no_pseudo_query_asks_what_a_held_out_query_asks(labelled, tmp_path: Path) -> None:
    for name in ("vitamin", "file", "round", "climate", "table", "bread", "river"):  # "wing" is the title of two documents: nobody's query
        labelled.queries[f"q-{name}"] = f"about  THE {name}"
    counts, train, held_out = made(labelled, tmp_path / "pairs", shares={"title": 1.0}, held_out=0.5)
    rows = [json.loads(line) for line in (tmp_path / "pairs" / SKIPPED).read_text().splitlines()]
    asked = {pseudo_id(pair.query) for pair in held_out}
    same = [row for row in rows if row["reason"] == "a held-out query asks the same"]
    assert len(same) == 3 and {pseudo_id(row["query"]) for row in same} < asked  # the fourth document's title was made the answer, its text the query
    assert asked.isdisjoint(pseudo_id(pair.query) for pair in train) and counts["title"] == 4 and counts["skipped"] == len(rows)


def test_queries_of_the_same_words_are_held_out_together(labelled, tmp_path: Path) -> None:
    for name in ("vitamin", "file", "round", "climate"):
        labelled.queries[f"q-{name}"] = "what  is THIS" if name == "file" else "what is this"
    for seed in range(5):
        _, train, held_out = made(labelled, tmp_path / f"pairs-{seed}", seed=seed, fill=0, held_out=0.3)
        assert len(train) + len(held_out) == 9
        assert {pseudo_id(pair.query) for pair in train}.isdisjoint(pseudo_id(pair.query) for pair in held_out)


def test_keyphrases_alone_fill_nothing_where_nothing_weighs_words(labelled, tmp_path: Path) -> None:
    counts, train, _ = made(labelled, tmp_path / "pairs", shares={"keyphrases": 1.0})
    assert {pair.kind for pair in train} == {"labelled"} and counts["skipped"] == 0


def test_some_positives_of_a_query_are_drawn_and_the_others_listed(labelled, tmp_path: Path) -> None:
    judged = labelled.qrels("train")
    judged["q-bread"] = dict.fromkeys(labelled.ids, 1)
    for seed in range(3):  # in one of them at least the query is not held out
        counts, train, held_out = made(labelled, tmp_path / f"pairs-{seed}", positives=1, fill=0, seed=seed)
        assert len(train) == len({pair.query for pair in train}) == 7 and len({pair.query for pair in held_out}) == 1
        rows = [json.loads(line) for line in (tmp_path / f"pairs-{seed}" / SKIPPED).read_text().splitlines()]
        assert len(rows) == counts["skipped"] and {row["reason"] for row in rows} <= {"beyond 1 positives of the query"}
        assert len(train) + len(held_out) + len(rows) == sum(grade > 0 for grades in judged.values() for grade in grades.values())


def small(tmp_path: Path, texts: list[str]) -> Collection:
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(texts)))
    (tmp_path / "collection").mkdir()
    import_collection(tmp_path / "corpus.jsonl", tmp_path / "collection")
    return Collection.open(tmp_path / "collection")


def test_short_documents_are_listed(tmp_path: Path) -> None:
    long = "Nine words are enough to cut a query here {}."
    counts, _, _ = made(small(tmp_path, ["tiny", *(long.format(i) for i in range(5))]), tmp_path / "pairs")
    assert counts["skipped"] == 1 and json.loads((tmp_path / "pairs" / SKIPPED).read_text())["document"] == "0"


def test_a_held_out_document_is_one_that_can_be_cut(tmp_path: Path) -> None:
    long = "Nine words are enough to cut a query here {}."
    collection = small(tmp_path, [*(f"tiny {i}" for i in range(12)), *(long.format(i) for i in range(2))])
    for seed in range(4):  # whichever document comes first in the random order
        counts, train, held_out = made(collection, tmp_path / f"pairs-{seed}", seed=seed)
        assert counts["held_out"] == len({pair.document for pair in train}) == 1 and counts["skipped"] == 12
        assert train[0].document != held_out[0].document


def test_a_held_out_query_is_one_with_an_answer(labelled, tmp_path: Path) -> None:
    judged = labelled.qrels("train")
    for query in list(judged)[2:]:
        judged[query] = {"nowhere": 1}
    for seed in range(4):
        counts, _, held_out = made(labelled, tmp_path / f"pairs-{seed}", seed=seed)
        assert counts["held_out"] == len(held_out) >= 1 and counts["train"] >= 1


def test_one_document_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="only one document"):
        made(small(tmp_path, ["tiny", "Nine words are enough to cut a query here today."]), tmp_path / "pairs")


def test_nothing_but_short_documents(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no document is long enough"):
        made(small(tmp_path, ["tiny", "small"]), tmp_path / "pairs")


def test_a_damaged_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / TRAIN).write_text('{"query": "a"}\n')
    with pytest.raises(UserError, match=r"train\.jsonl:1"):
        read_pairs(tmp_path / TRAIN)
