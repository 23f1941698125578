"""Pain 42: streams are supported in some places only. Here whatever is read once is read as a stream, and training counts steps."""

from __future__ import annotations

import itertools
import json
import tracemalloc

import pytest
from tests.finetuning.training_pieces import NEGATIVES, PAIRS, SPECS, TEXTS

from retrolex.backbones import load_backbone
from retrolex.errors import UserError
from retrolex.finetuning.formats import read_rows
from retrolex.finetuning.options import FinetuneOptions
from retrolex.finetuning.train import finetune
from retrolex.index.bm25 import BM25Index
from retrolex.tokens import Tokens, tokenize


def test_tokens_and_bm25_take_a_generator(tiny_model_folder, tmp_path):
    _, tokenizer = load_backbone(tiny_model_folder)
    assert tokenize((f"river {number}" for number in range(50)), tokenizer, tmp_path / "tokens")["documents"] == 50
    assert len(Tokens.open(tmp_path / "tokens")) == 50
    index = BM25Index.build(tmp_path / "bm25", [str(number) for number in range(50)], (f"river number{number}" for number in range(50)))
    assert index.search(["number7"], 1)[0][0].tolist() == [7]


def test_training_rows_come_one_at_a_time(tmp_path):
    path = tmp_path / "rows.jsonl"
    row = json.dumps({"query": "a query", "pos": ["yes " * 200], "neg": ["no " * 200]}) + "\n"
    path.write_text(row * 5000 + "not JSON\n", encoding="utf-8")
    tracemalloc.start()
    rows = read_rows(path, "flagembedding")
    assert len(list(itertools.islice(rows, 5000))) == 5000 and tracemalloc.get_traced_memory()[0] < 40 << 20
    tracemalloc.stop()
    with pytest.raises(UserError, match=r"rows\.jsonl:5001"):
        next(rows)


def test_steps_may_go_beyond_the_data(tiny_model_folder, tmp_path):
    backbone, tokenizer = load_backbone(tiny_model_folder)
    options = FinetuneOptions(steps=5, queries=4, hard=1, bf16=False)  # two batches a pass
    assert finetune(backbone, tokenizer, SPECS["dense"], PAIRS, NEGATIVES, TEXTS.__getitem__, tmp_path, options)["steps"] == 5
