"""Pain 34: a tokenizer made from vocab.txt alone can end up with five tokens and every text unknown. Here it has all of them, or is refused."""

from __future__ import annotations

import json
import shutil

import pytest

from retrolex.backbones import load_backbone
from retrolex.collection.doctor.token_counts import token_counter
from retrolex.errors import UserError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s"]


def test_a_folder_with_a_vocabulary_file(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}), encoding="utf-8")
    assert token_counter(str(tmp_path)).count(["the cats", "The cat the cat"]) == [3, 4]


def test_a_tokenizer_without_words_is_refused(tiny_model_folder, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model_folder, folder)
    described = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    described["model"]["vocab"] = {word: number for number, word in enumerate(WORDS[:5])}
    described["added_tokens"] = [token | {"id": WORDS.index(token["content"])} for token in described["added_tokens"]]
    described["post_processor"] |= {"sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    (folder / "tokenizer.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(UserError, match="5 tokens"):
        load_backbone(folder)
