"""Pain 47: pre-training says nothing of when to stop, and throws its heads away. Here it measures retrieval on the way, and keeps all it trained."""

from __future__ import annotations

import json

from retrolex.backbones import Spec, load_backbone
from retrolex.backbones.scratch import random_bert
from retrolex.collection import Document
from retrolex.pretraining import PretrainConfig, known_items, pretrain
from retrolex.tokens import Tokens, tokenize
from retrolex.tokens.train_tokenizer import train_wordpiece

DOCUMENTS = [
    Document(str(number), f"Item{number} of {number * 7}", f"The wing{number % 9} carries the load. The item{number} floods the plain{number % 5}.")
    for number in range(200)
]


def test_two_hundred_documents(tmp_path):
    texts = [document.full for document in DOCUMENTS]
    tokenizer = train_wordpiece(texts, 300)
    tokenize(texts, tokenizer, tmp_path / "tokens")
    backbone = random_bert(tokenizer, 2, 32)
    config = PretrainConfig(objective="retromae", steps=4, probe_every=2, tokens_per_batch=256, bf16=False, patience=50)
    spec, model = Spec(document_length=40, query_length=16), tmp_path / "model"
    result = pretrain(backbone, tokenizer, Tokens.open(tmp_path / "tokens"), model, config, spec=spec, held_out=known_items(DOCUMENTS))
    rows = [json.loads(line) for line in (model / "logs" / "probe.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["step"] for row in rows] == [0, 2, 4] and not result["stopped_early"]
    for row in rows:
        assert row["held_out"]["loss"] > 0 and 0 <= row["dense"]["RR@10"] <= 1 and 0 <= row["bm25"]["RR@10"] <= 1
    assert (model / "decoder.safetensors").exists() and not load_backbone(model)[0].head_is_new
