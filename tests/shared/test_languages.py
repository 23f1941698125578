"""Nothing assumes English or spaces: reading, tokens, whole-word masks, BM25 and pseudo-queries on Chinese and Italian."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import numpy as np
import pytest

from retrolex.collection import Collection, import_collection
from retrolex.finetuning.crops import from_cloze, from_lead
from retrolex.index.bm25 import BM25Index
from retrolex.tokens import Tokens, masks, tokenize
from retrolex.tokens.train_tokenizer import train_wordpiece

SHARED = os.environ.get("RETROLEX_SHARED")
if not SHARED:
    pytest.skip("RETROLEX_SHARED does not name the folder of shared collections", allow_module_level=True)
DOCUMENTS = 200
LANGUAGES = {"drcd-zh": "chinese", "squad-it": "italian"}


def head_of(name: str, folder: Path) -> Path:
    """A BEIR folder of the first documents of a shared collection and the queries that they answer."""
    source = Path(SHARED, "collections", name)
    corpus = (source / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[:DOCUMENTS]
    kept = {json.loads(line)["_id"] for line in corpus}
    judged = [line for line in (source / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines() if line.split("\t")[1] in kept]
    asked = {line.split("\t")[0] for line in judged}
    queries = [line for line in (source / "queries.jsonl").read_text(encoding="utf-8").splitlines() if json.loads(line)["_id"] in asked]
    (folder / "qrels").mkdir(parents=True)
    for path, lines in (("corpus.jsonl", corpus), ("queries.jsonl", queries), ("qrels/test.tsv", judged)):
        (folder / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module", params=LANGUAGES)
def collection(request, tmp_path_factory) -> tuple[Collection, str]:
    folder = tmp_path_factory.mktemp(request.param)
    counts = import_collection(head_of(request.param, folder / "source"), folder)
    assert (counts["documents"], counts["rejects"], counts["warnings"]) == (DOCUMENTS, 0, 0) and counts["queries"] > 100
    return Collection.open(folder), LANGUAGES[request.param]


def test_bm25_finds_the_answers(collection, tmp_path):
    opened, language = collection
    index = BM25Index.build(tmp_path, opened.ids, (document.full for document in opened), language)
    queries, qrels = opened.queries, opened.qrels("test")
    asked = list(qrels)[:200]
    found = index.search([queries[query] for query in asked], 10)
    hits = [any(opened.ids[position] in qrels[query] for position in hits[0]) for query, hits in zip(asked, found, strict=True)]
    assert np.mean(hits) > 0.9


def test_whole_words_are_masked(collection, tmp_path):
    """As many tokens as wanted, never a part of a word; in Chinese a character is a word."""
    opened, language = collection
    texts = [document.full for document in opened.documents(0, 50)]
    tokenizer = train_wordpiece(texts, 2000)
    tokenize(texts, tokenizer, tmp_path)
    tokens = Tokens.open(tmp_path)
    length = 64
    rows = [document for document in range(len(tokens)) if tokens.lengths[document] >= length]
    places = tokens.offsets[rows][:, None] + np.arange(length)
    starts, ordinary = tokens.word_starts(places), np.ones((len(rows), length), dtype=bool)
    assert (starts.mean() > 0.8) if language == "chinese" else (0.3 < starts.mean() < 0.95)
    unknown = np.mean(np.asarray(tokens.ids) == tokenizer.unk_token_id)
    assert unknown < 0.35
    words = masks.word_numbers(starts, ordinary)
    chosen = masks.choose_words(words, masks.targets(ordinary, 0.3), masks.generators(0, 0, np.arange(len(rows))))
    assert abs(chosen.mean() - 0.3) < 0.02
    for row in range(len(rows)):
        for word in range(words[row].max() + 1):
            assert len(set(chosen[row, words[row] == word])) == 1


def test_documents_ask_for_themselves(collection):
    opened, _ = collection
    rng = random.Random(0)
    documents = list(opened.documents(0, 100))
    for kind in (from_lead, from_cloze):
        crops = [crop for document in documents if (crop := kind(document, rng))]
        assert len(crops) > 90 and all(crop.query and crop.text and len(crop.query) < len(crop.text) * 4 for crop in crops)
