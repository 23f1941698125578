"""Cutting documents: every unit in one piece, nothing copied across, and every kind of text."""

from __future__ import annotations

import random
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from retrolex.collection.documents import Document
from retrolex.finetuning.crops import LONGEST, SHORTEST, VISIBLE, from_cloze, from_lead, from_title, pieces, units, visible

TEXT = "The wing carries the load of the aircraft. Lift grows with the angle of attack. Then the flow separates from it."


def rng(seed: int = 0) -> random.Random:
    return random.Random(seed)


@given(st.text(alphabet="ab .!?。梵語\n'\"", max_size=300))
def test_pieces_hold_every_unit_once(text: str) -> None:
    inside = [span for start, stop in pieces(text) for span in units(text) if start <= span[0] and span[1] <= stop]
    assert inside == units(text)
    assert all(len(units(text[start:stop])) <= LONGEST + SHORTEST for start, stop in pieces(text))


def test_pieces_end_with_sentences() -> None:
    assert [TEXT[start:stop] for start, stop in pieces(TEXT)] == [sentence + "." for sentence in TEXT[:-1].split(". ")]


def test_chinese_sentences_end_without_spaces() -> None:
    text = "梵語儘管非常古老，構造卻精妙絕倫。1786年在加爾各答舉行會議！這是第三句話。"
    assert [text[start:stop] for start, stop in pieces(text)] == [
        "梵語儘管非常古老，構造卻精妙絕倫。",
        "1786年在加爾各答舉行會議！",
        "這是第三句話。",
    ]


def test_a_name_without_spaces_has_words_too() -> None:
    name, text = "無人機攝影", "用遙控飛機從空中拍攝照片"
    assert {from_title(Document("1", name, text), rng(seed)) for seed in range(40)} == {(name, text), (text, name)}


def test_thai_is_cut_between_letters_not_before_marks() -> None:
    text = "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอนหรือวรรณยุกต์เช่นเดียวกับภาษาจีน" * 3
    assert all(unicodedata.category(text[start])[0] != "M" for start, _ in units(text))
    query, rest = from_cloze(Document("1", "", text), rng())
    assert len(query) >= 4 * 3 and len(rest) >= 5 * 3


def test_text_without_a_full_stop_is_cut() -> None:
    text = " ".join(f"word{i}" for i in range(100))
    assert [len(units(text[start:stop])) for start, stop in pieces(text)] == [32, 32, 32, 4]


def test_title_is_not_left_on_the_documents_side() -> None:
    crop = from_title(Document("1", "The wing", "The wing carries the load of the aircraft in flight."), rng())
    assert crop == ("The wing", "carries the load of the aircraft in flight.")
    assert from_title(Document("1", "", TEXT), rng()) is None
    assert from_title(Document("1", "The wing", "too short"), rng()) is None


def test_a_single_sentence_asks_for_its_title_half_the_time() -> None:
    name, text = "os.path.relpath(path, start=None)", "Return a relative version of a path"
    crops = [from_title(Document("1", name, text), rng(seed)) for seed in range(100)]
    assert set(crops) == {(name, text), (text, name)} and 30 < crops.count((text, name)) < 70
    assert from_title(Document("1", name, "Removes an option."), rng()) == ("Removes an option.", name)


def test_lead_is_the_first_sentence() -> None:
    crop = from_lead(Document("1", "Wings", TEXT), rng())
    assert crop.query == "The wing carries the load of the aircraft."
    assert crop.text == "Wings Lift grows with the angle of attack. Then the flow separates from it."
    assert from_lead(Document("1", "Wings", "One single sentence, however long it may be."), rng()) is None


def test_lead_of_code_is_its_docstring() -> None:
    code = (
        'def wipe(self):\n    """Delete every key of the store. Slowly."""\n    keys = list(self.keys())\n    for key in keys:\n        del self[key]'
    )
    crop = from_lead(Document("1", "", code), rng())
    assert crop.query == "Delete every key of the store. Slowly."
    assert "Delete" not in crop.text and "del self[key]" in crop.text


def test_cloze_removes_the_span_nine_times_in_ten() -> None:
    crops = [from_cloze(Document("1", "", TEXT), rng(seed)) for seed in range(300)]
    assert {crop.query for crop in crops} == {TEXT[start:stop] for start, stop in pieces(TEXT)}
    assert 0.04 < sum(crop.query in crop.text for crop in crops) / 300 < 0.18


def test_cloze_of_a_single_sentence_takes_half_of_its_words() -> None:
    text = "Less energy reaches the upper atmosphere which is therefore cooler because of this."
    for seed in range(20):
        crop = from_cloze(Document("1", "Carbon dioxide", text), rng(seed))
        assert len(crop.query.split()) == len(text.split()) // 2 and crop.query in text
        assert crop.text.startswith("Carbon dioxide ")
    assert from_cloze(Document("1", "", "far too short"), rng()) is None


def test_only_what_an_encoder_sees_is_used() -> None:
    text = " ".join(f"w{i}" for i in range(1000))
    assert len(units(visible(text))) == VISIBLE
