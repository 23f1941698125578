"""Nothing assumes English or spaces: reading, tokens, whole-word masks, BM25 and pseudo-queries on Chinese and Italian."""

from __future__ import annotations

import json
import os
import random
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from tests.pipeline.small import small_recipe
from tests.tokens.conftest import train

from retrolex.backbones import save_backbone
from retrolex.backbones.scratch import random_bert
from retrolex.collection import Collection, Document, import_collection
from retrolex.finetuning.crops import from_cloze, from_lead
from retrolex.finetuning.keyphrases import from_keyphrases
from retrolex.finetuning.pairs import TRAIN, read_pairs
from retrolex.index.analysis import normalize
from retrolex.index.bm25 import BM25Index
from retrolex.pipeline.run import run
from retrolex.pretraining.probe import bm25_figures, known_items
from retrolex.search.searcher import Searcher
from retrolex.search.snippets import snippet
from retrolex.tokens import Tokens, masks, tokenize
from retrolex.tokens.train_tokenizer import train_wordpiece
from retrolex.words import term_spans

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


def test_a_sentencepiece_vocabulary_has_words_of_its_tokens(collection, tmp_path):
    """XLM-R's kind of tokenizer takes a Chinese clause for one word; masked whole, it would hide all there is to learn from."""
    opened, language = collection
    texts = [document.full for document in opened.documents(0, 50)]
    tokenize(texts, train("unigram", texts, 4000), tmp_path)
    tokens = Tokens.open(tmp_path)
    starts = np.append(np.flatnonzero(tokens.word_starts(np.arange(tokens.total))), tokens.total)
    sizes = np.diff(starts)
    if language == "chinese":
        assert sizes.mean() < 1.5 and np.percentile(sizes, 99) <= 4
    else:
        assert 1.05 < sizes.mean() < 4  # what an Italian word is spelled with stays together


def test_first_sentences_are_known_items(collection):
    opened, _ = collection
    items = known_items([Document(document.id, "", document.text) for document in opened], 20)
    assert items is not None and len(items.rows) == DOCUMENTS // 10
    assert all(len(query) >= 4 and text for query, text in zip(items.queries, items.texts, strict=True))
    assert bm25_figures(items)["RR@10"] > 0.5


def test_keyphrases_are_words_of_the_document(collection):
    opened, language = collection
    rng, made = random.Random(0), 0
    for document in opened.documents(0, 30):
        terms = {word: 1.0 + len(word) for word in (document.full if language == "chinese" else document.full.lower().split())}
        crop = from_keyphrases(document, rng, lambda _, terms=terms: terms)
        made += crop is not None
        assert crop is None or all(word in unicodedata.normalize("NFC", document.full) for word in crop.query.split())
    assert made == 30


def test_snippets_show_the_answer(collection):
    """The stretch that is shown shares more with the query than the document's beginning does."""
    opened, _ = collection
    shown = begun = 0
    for query, judged in list(opened.qrels("test").items())[:200]:
        asked = opened.queries[query]
        text = opened[opened.position(next(iter(judged)))].text
        wanted = {normalize(asked[start:stop]) for start, stop in term_spans(asked)}

        def shared(found: str, wanted: set[str] = wanted) -> int:
            return len(wanted & {normalize(found[start:stop]) for start, stop in term_spans(found)})

        shown, begun = shown + shared(snippet(text, asked)), begun + shared(text[:200])
    assert shown > 1.2 * begun


@pytest.mark.slow
def test_a_run_from_end_to_end(collection, tmp_path):
    """Pairs, masks, probe, BM25, both retrievers, measures and a search, with a tiny model of random weights."""
    opened, language = collection
    texts = [document.full for document in opened]
    tokenizer = train_wordpiece(texts, 3000)
    save_backbone(random_bert(tokenizer, 2, 32), tokenizer, tmp_path / "start")
    source = head_of("drcd-zh" if language == "chinese" else "squad-it", tmp_path / "source")
    recipe = small_recipe(source, tmp_path / "start", tmp_path / "run", f"collection.language={language}")
    outcome = run(recipe)
    found = Searcher.open(outcome.folder).search(next(iter(opened.queries.values())), 5, "bm25")
    assert len(found) == 5 and all(answer.snippet for answer in found)
    probe = [json.loads(line) for line in (outcome.folder / "lexicon" / "pretrain" / "logs" / "probe.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["step"] for row in probe] == [0, 3, 6] and probe[0]["bm25"]["RR@10"] > 0.1
    pairs = read_pairs(outcome.folder / "pairs" / TRAIN)
    assert len(pairs) > DOCUMENTS // 2 and all(pair.query and pair.positive for pair in pairs)


def test_documents_ask_for_themselves(collection):
    opened, _ = collection
    rng = random.Random(0)
    documents = list(opened.documents(0, 100))
    for kind in (from_lead, from_cloze):
        crops = [crop for document in documents if (crop := kind(document, rng))]
        assert len(crops) > 90 and all(crop.query and crop.text and len(crop.query) < len(crop.text) * 4 for crop in crops)
