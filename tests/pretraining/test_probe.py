"""The probe asks for held-out documents by their titles, and tells a dead model from a live one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from retrolex.backbones import Spec
from retrolex.collection import Document
from retrolex.pretraining.probe import Probe, bm25_figures, figures, known_items, split
from retrolex.pretraining.watch import Watch, warnings


def test_query_is_the_title_or_the_first_sentence():
    assert split(Document("1", "A title", "The text.")) == ("A title", "The text.")
    assert split(Document("1", "", "First one. Second one! Third?")) == ("First one.", "Second one! Third?")
    assert split(Document("1", "", "第一句。第二句。")) == ("第一句。", "第二句。")
    assert split(Document("1", "", "Only one sentence")) is None
    assert split(Document("1", "", "")) is None
    words = [str(number) for number in range(30)]
    assert split(Document("1", "", " ".join(words))) == (" ".join(words[:8]), " ".join(words[8:]))


def test_a_first_sentence_in_every_script():
    assert split(Document("1", "", "「何ですか？」と聞いた。次の文。")) == ("「何ですか？」", "と聞いた。次の文。")
    assert split(Document("1", "", "पहला वाक्य।दूसरा वाक्य।")) == ("पहला वाक्य।", "दूसरा वाक्य।")
    bare = "這段文字沒有任何標點符號但是仍然有很多內容可以拿來當作問題"
    assert split(Document("1", "", bare)) == (bare[:8], bare[8:])
    query, rest = split(Document("1", "", "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอนหรือวรรณยุกต์เช่นเดียวกับภาษาจีนและออกเสียงแยกคำต่อคำ" * 2))
    assert 20 <= len(query) <= 40 and len(rest) > 100
    assert split(Document("1", "", "只有一句話。")) is None


def test_held_out_documents(documents):
    items = known_items(documents * 3, count=15)
    assert len(items.rows) == len(items.queries) == 15 and list(items.rows) == sorted(set(items.rows))
    assert items == known_items(documents * 3, count=15)
    assert items.queries[0] == (documents * 3)[items.rows[0]].title
    assert known_items(documents[:20]) is None  # two documents tell nothing


def test_figures_by_hand():
    scores = np.array([[3.0, 1.0, 2.0], [5.0, 4.0, 1.0], [1.0, 1.0, 1.0]])  # ranks 1, 2, and a tie of three that counts as rank 3
    assert figures(scores) == {"RR@10": round((1 + 1 / 2 + 1 / 3) / 3, 4), "R@10": 1.0}


def test_a_dead_model_finds_nothing_and_is_warned_of(documents, start):
    items = known_items(documents * 3, count=15)
    backbone, tokenizer = start()
    probe = Probe(items, tokenizer, Spec(document_length=42, query_length=16))
    row = probe.measure(backbone)
    assert 0 < row["dense"]["RR@10"] <= 1 and 0 <= row["density"] <= 1
    with torch.no_grad():
        for parameter in backbone.parameters():
            parameter.zero_()
    dead = probe.measure(backbone)
    assert dead["dense"]["RR@10"] == dead["lexicon"]["RR@10"] == 0.0
    dead |= {"step": 5, "held_out": {"loss": 3.0}}
    assert "empty" in " ".join(warnings(dead, "lexicon", dead))


def test_bm25_answers_the_same_queries(documents):
    assert bm25_figures(known_items(documents * 3, count=15))["RR@10"] >= 0


HEALTHY = {"step": 5, "held_out": {"loss": 3.0}, "cosine": 0.3, "density": 0.01}


@pytest.mark.parametrize(
    ("watched", "change", "words"),
    [
        ("dense", {"held_out": {"loss": float("nan")}}, "not a number"),
        ("dense", {"held_out": {"loss": 0.0}}, "lower than text allows"),
        ("dense", {"held_out": {"loss": 9.0}}, "has risen from 3.0 to 9.0"),
        ("dense", {"cosine": 0.999}, "all vectors are nearly the same"),
        ("lexicon", {"density": 0.0}, "all lexicon vectors are empty"),
        ("lexicon", {"density": 0.25}, "use 25% of the vocabulary"),
    ],
)
def test_warnings_name_what_is_wrong(watched, change, words):
    (warning,) = warnings(HEALTHY | change, watched, HEALTHY)
    assert words in warning


def test_a_healthy_run_is_not_warned_of():
    assert not warnings(HEALTHY, "lexicon", HEALTHY) and not warnings(HEALTHY, "dense", HEALTHY)


def test_patience_counts_probes_without_a_gain(tmp_path):
    watch = Watch(tmp_path / "log", dict, 1, "dense", 2)
    watch.rows = [{"dense": {"RR@10": value}} for value in (0.1, 0.3, 0.3005, 0.29)]
    assert watch.since_best() == 2
    watch.rows.append({"dense": {"RR@10": 0.4}})
    assert watch.since_best() == 0


def test_no_query_asks_for_two_documents():
    documents = [Document(str(i), f"title {i // 5}", f"text number {i} of a long list") for i in range(200)]
    items = known_items(documents, 20, language="italian")
    assert items is not None
    assert len(items.queries) == 20 == len(set(items.queries))
    assert items.language == "italian"


def test_the_parts_of_one_article_are_asked_for_by_their_first_sentences():
    documents = [Document(str(i), "One article", f"Part {i} begins. It goes on.") for i in range(200)]
    items = known_items(documents, 20)
    assert items is not None and len(items.rows) == 20
    assert sum(query == "One article" for query in items.queries) == 1
    of_sentences = [text for query, text in zip(items.queries, items.texts, strict=True) if query != "One article"]
    assert of_sentences == ["It goes on."] * 19
