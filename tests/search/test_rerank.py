"""Reranking keeps the documents and orders them by the cross-encoder."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from retrolex.errors import UserError
from retrolex.search.rerank import Reranker


@pytest.fixture(scope="module")
def reranker(tiny_model_folder, tmp_path_factory) -> Reranker:
    folder = tmp_path_factory.mktemp("cross-encoder")
    config = BertConfig.from_pretrained(tiny_model_folder)
    config.num_labels = 1
    torch.manual_seed(0)
    BertForSequenceClassification(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(tiny_model_folder).save_pretrained(folder)
    return Reranker(folder)


TEXTS = {"a": "a river floods", "b": "bread needs yeast", "c": "the wing carries the load"}


def test_the_first_hits_are_ordered_by_the_cross_encoder(reranker):
    run = {"q": [("a", 3.0), ("b", 2.0), ("c", 1.0)], "empty": []}
    ranked = reranker.rerank(run, {"q": "what floods", "empty": "x"}, TEXTS.__getitem__)
    scores = dict(zip(TEXTS, reranker.model.predict([("what floods", text) for text in TEXTS.values()]), strict=True))
    assert [document for document, _ in ranked["q"]] == sorted(TEXTS, key=lambda id: -scores[id])
    assert ranked["empty"] == []
    assert run["q"][0] == ("a", 3.0)


def test_what_lies_deeper_is_cut_off(reranker):
    ranked = reranker.rerank({"q": [("a", 3.0), ("b", 2.0), ("c", 1.0)]}, {"q": "x"}, TEXTS.__getitem__, depth=2)
    assert {document for document, _ in ranked["q"]} == {"a", "b"}


def test_nothing_loadable_is_refused(tmp_path):
    with pytest.raises(UserError, match="cross-encoder"):
        Reranker(tmp_path)
