"""Words joined from word pieces and weighed, by hand, and the queries drawn from them."""

from __future__ import annotations

import random

import pytest
import scipy.sparse as sp

from retrolex.collection.documents import Document
from retrolex.errors import UserError
from retrolex.finetuning.keyphrases import from_keyphrases, weigher, word_weights
from retrolex.finetuning.pairs import TRAIN, pseudo_id, read_pairs
from retrolex.finetuning.pseudo_queries import PairOptions, make_pairs


def test_word_pieces_are_joined_and_weighed_by_their_letters() -> None:
    terms = {"retro": 1.0, "##lex": 2.0, "wing": 3.0, "##s": 0.5, "the": 0.0, "lift": -1.0}
    weights = word_weights("The wings of Retrolex: retrolex wing lift", terms)
    assert weights == {
        "wings": pytest.approx((4 * 3.0 + 1 * 0.5) / 5),
        "Retrolex": pytest.approx((5 * 1.0 + 3 * 2.0) / 8),
        "wing": 3.0,
    }
    assert list(weights) == ["wings", "Retrolex", "wing"]  # by first occurrence, in its spelling


def test_a_continuation_does_not_begin_a_word_nor_the_other_way_round() -> None:
    assert word_weights("lexical", {"##lexical": 5.0}) == {}
    assert word_weights("relex", {"re": 1.0, "lex": 9.0}) == {}  # "lex" begins words only: two letters of five are too few
    assert word_weights("relex", {"rel": 1.0, "lex": 9.0}) == {"relex": pytest.approx(3 / 5)}


def test_the_longest_piece_wins() -> None:
    assert word_weights("seaside", {"sea": 9.0, "seas": 1.0, "##ide": 1.0, "##side": 9.0}) == {"seaside": pytest.approx(1.0)}


@pytest.mark.parametrize("mark", ["▁", "Ġ"])
def test_pieces_that_mark_the_beginning_of_a_word(mark: str) -> None:
    terms = {f"{mark}retro": 1.0, "lex": 2.0, f"{mark}Queen": 4.0}
    assert word_weights("retrolex Queen lex", terms) == {"retrolex": pytest.approx(11 / 8), "Queen": 4.0}


def test_marks_and_accents() -> None:
    assert word_weights("हिन्दी café Queen's", {"हिन्दी": 1.0, "cafe": 2.0, "queen": 3.0}) == {"हिन्दी": 1.0, "café": 2.0, "Queen": 3.0}
    assert word_weights("cafe\u0301", {"café": 2.0, "cafe": 1.0}) == {"café": 2.0}


def test_words_of_scripts_without_spaces() -> None:
    """Terms of several characters are words; where the vocabulary knows single characters only, pairs of them are."""
    assert word_weights("我們在東京大學讀書", {"▁東京": 3.0, "大學": 2.0, "▁tokyo": 9.0}) == {
        "東京": 3.0,
        "大學": 2.0,
    }
    singles = word_weights("東京大學 Python", {"東": 4.0, "京": 2.0, "大": 1.0, "python": 5.0})
    assert singles == {"東京": 3.0, "京大": 1.5, "大學": 0.5, "Python": 5.0}


def test_keyphrases_of_a_chinese_document() -> None:
    text = "無人機可以從空中攝影，也可以運送藥品到偏遠山區，還能在農田噴灑肥料。"
    weights = {sign: 1.0 + number % 5 for number, sign in enumerate(dict.fromkeys(text)) if sign.isalnum()}
    crop = from_keyphrases(Document("1", "", text), random.Random(0), lambda _: weights)
    words = crop.query.split()
    assert 3 <= len(words) <= 6 and all(word in text and len(word) == 2 for word in words)
    assert len(set("".join(words))) == 2 * len(words)  # no character twice
    assert crop.text == text


def test_weights_come_from_an_encoders_rows() -> None:
    rows = sp.csr_array([[0.0, 1.5, 0.0, 2.0]])
    assert weigher(lambda texts: rows, ["[PAD]", "wing", "lift", "##s"])("any") == {"wing": 1.5, "##s": 2.0}


TERMS = {"wing": 3.0, "lift": 2.0, "attack": 2.0, "flow": 1.0, "angle": 1.0}
TEXT = "The wing gives lift. Lift grows with the angle of attack until the flow parts."


def test_a_query_holds_the_documents_best_words_in_its_order() -> None:
    document = Document("1", "Wings", TEXT)  # not taken beside "wing", which weighs more
    for seed in range(30):
        crop = from_keyphrases(document, random.Random(seed), lambda text: TERMS)
        words = crop.query.split()
        assert 3 <= len(words) <= 5 and len(set(words)) == len(words) and set(words) <= {"wing", "lift", "angle", "attack", "flow"}
        assert words == sorted(words, key=["wing", "lift", "angle", "attack", "flow"].index)
        assert crop.text == f"Wings {TEXT}"
    assert from_keyphrases(Document("1", "", "wing lift"), random.Random(0), lambda text: TERMS) is None


def test_heavier_words_are_drawn_more_often() -> None:
    terms = {"wing": 9.0, "lift": 1.0, "attack": 1.0, "flow": 1.0, "angle": 1.0}
    queries = [from_keyphrases(Document("1", "", TEXT), random.Random(seed), lambda text: terms).query for seed in range(200)]
    assert sum("wing" in query.split() for query in queries) > sum("flow" in query.split() for query in queries)


def test_pairs_of_keyphrases(collection, tmp_path) -> None:
    def weigh(text: str) -> dict[str, float]:
        return {word: float(len(word)) for word in text.lower().replace(".", "").split()}

    counts = make_pairs(collection, tmp_path, PairOptions(count=20, shares={"keyphrases": 1.0}), weigh)
    pairs = read_pairs(tmp_path / TRAIN)
    assert counts["keyphrases"] == len(pairs) == 20  # more than there are documents: another draw every turn
    assert all(pair.kind == "keyphrases" and pair.query_id == pseudo_id(pair.query) for pair in pairs)
    assert all(pair.positive == collection[collection.position(pair.document)].full for pair in pairs)


def test_keyphrases_need_a_model(collection, tmp_path) -> None:
    with pytest.raises(UserError, match="lexicon model"):
        make_pairs(collection, tmp_path, PairOptions(shares={"keyphrases": 0.5, "lead": 0.5}))
