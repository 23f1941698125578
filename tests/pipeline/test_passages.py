"""Long documents in a whole run: found by any of their parts, once each, with a snippet from the part that was found."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tests.pipeline.small import small_recipe, write_collection

from retrolex.artifacts import content_hash
from retrolex.backbones import read_spec
from retrolex.collection import Collection
from retrolex.encoding import Encoder
from retrolex.encoding.shards import read_shards
from retrolex.errors import UserError
from retrolex.evaluation.runs import read_run
from retrolex.finetuning.pairs import TRAIN, read_pairs
from retrolex.index.passages import PassageIndex
from retrolex.pipeline.model import Retriever
from retrolex.pipeline.run import run
from retrolex.search.searcher import Searcher
from retrolex.tokens import Tokens
from retrolex.tokens.passages import Passages

PASSAGES = [f"{name}.{setting}" for name in ("dense", "lexicon") for setting in ("pretrain=null", "finetune=null", "passages.overlap=8")]


@pytest.fixture
def long_folder(tmp_path):
    """The small collection, one document of which is 8,000 words long and another empty."""
    folder = write_collection(tmp_path / "notes")
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    rows[3]["text"] = f"{rows[3]['text']} {'bread needs yeast. ' * 2000} the zebra crosses the plain {'the file holds lines. ' * 500}"
    rows[5]["title"] = rows[5]["text"] = ""
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


@pytest.mark.parametrize("score", ["best", "top3"])
def test_a_run_over_passages(score, tmp_path, long_folder, tiny_model_folder):
    folder = tmp_path / "run"
    run(small_recipe(long_folder, tiny_model_folder, folder, *PASSAGES, *(f"{name}.passages.score={score}" for name in ("dense", "lexicon"))))
    searcher = Searcher.open(folder)
    for name in ("dense", "lexicon"):
        system = searcher.system(name)
        passages = Passages.open(folder / name / "start-vectors")
        assert passages.documents == 56 and len(passages.document) > 300
        assert isinstance(system.index, PassageIndex) and len(system.index) == 56
        found = read_run(next((folder / "search").glob(f"test.start-{name}.*")))
        for hits in found.values():
            documents = [document for document, _ in hits]
            assert len(documents) == len(set(documents)) <= 20
            assert set(documents) <= set(searcher.collection.ids)
        assert name == "lexicon" or all(len(hits) == 20 for hits in found.values())
    queries = {"q": "bread needs yeast and sugar"}
    vectors = np.concatenate([*read_shards(folder / "dense" / "start-vectors")])
    scores = vectors @ searcher.system("dense").encode(queries)[0]
    passages = Passages.open(folder / "dense" / "start-vectors")
    rows = [sum(sorted(scores[passages.document == row], reverse=True)[: 1 if score == "best" else 3]) for row in range(56)]
    hits, best = searcher.system("dense").find(queries, 56)
    np.testing.assert_allclose([value for _, value in hits["q"]], sorted(rows, reverse=True), rtol=1e-4)
    for document, passage in best["q"].items():
        row = searcher.collection.position(document)
        assert passage.number == np.argmax(scores[passages.document == row])


def test_the_snippet_comes_from_the_passage_that_was_found(tmp_path, long_folder, tiny_model_folder):
    run(small_recipe(long_folder, tiny_model_folder, tmp_path / "run", *PASSAGES))
    searcher = Searcher.open(tmp_path / "run")
    passage = next(answer for answer in searcher.search("bread needs yeast", 100, "dense") if answer.id == "d3")
    number = passage.passage
    map_ = Passages.open(tmp_path / "run" / "dense" / "start-vectors")
    row = map_.first[3] + number
    text = searcher.collection[3].full
    begin, end = searcher.system("dense").encoder.characters(text, int(map_.start[row]), int(map_.stop[row]))
    assert passage.snippet.strip("… ") in " ".join(text[begin:end].split())
    assert searcher.search("bread needs yeast", 3, "bm25")[0].passage is None


def test_where_documents_are_short_passages_change_nothing(tmp_path, collection_folder, tiny_model_folder):
    short = ["dense.pretrain=null", "dense.finetune=null", "lexicon=null", "dense.document_length=60"]
    run(small_recipe(collection_folder, tiny_model_folder, tmp_path / "whole", *short))
    run(small_recipe(collection_folder, tiny_model_folder, tmp_path / "passages", *short, "dense.passages.overlap=8"))
    assert content_hash(tmp_path / "whole" / "search") == content_hash(tmp_path / "passages" / "search")


def test_passages_that_do_not_get_on_are_refused_at_once(tmp_path, collection_folder, tiny_model_folder):
    with pytest.raises(UserError, match="cannot overlap by 46"):
        small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", "dense.passages.overlap=46")


def test_a_tokenizer_changed_in_place_makes_new_tokens(tmp_path, collection_folder, tiny_model_folder):
    model = shutil.copytree(tiny_model_folder, tmp_path / "model")
    settings = ["dense.pretrain=null", "dense.finetune=null", "lexicon=null"]
    run(small_recipe(collection_folder, model, tmp_path / "run", *settings))
    [tokens] = (tmp_path / "run").glob("tokens-*")
    before = content_hash(tokens)
    stated = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))
    stated["normalizer"]["lowercase"] = False
    (model / "tokenizer.json").write_text(json.dumps(stated), encoding="utf-8")
    run(small_recipe(collection_folder, model, tmp_path / "run", *settings))
    assert content_hash(tokens) != before


def test_title_and_body_as_a_pair_everywhere(tmp_path, collection_folder, tiny_model_folder):
    folder = tmp_path / "run"
    settings = ["lexicon=null", "dense.join=pair", "dense.guard=false", "dense.pretrain.steps=2", "dense.finetune.steps=2"]
    run(small_recipe(collection_folder, tiny_model_folder, folder, *settings))
    [tokens] = [Tokens.open(path) for path in folder.glob("tokens-*")]
    encoder = Encoder(folder / "dense" / "finetune", spec=read_spec(folder / "dense" / "finetune"))
    assert encoder.spec.separator == "[SEP]"
    collection = Collection.open(folder / "collection")
    pairs = encoder.tokenizer([d.title for d in collection], [d.text for d in collection])["input_ids"]
    assert [[*encoder.framing.frame[0], *tokens[row].tolist(), *encoder.framing.frame[1]] for row in range(len(tokens))] == pairs
    cut = [row if len(row) <= encoder.spec.document_length else [*row[: encoder.spec.document_length - 1], row[-1]] for row in pairs]
    expected, found = encoder.encode_tokens(cut), np.concatenate([*read_shards(folder / "dense" / "vectors")])
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_training_pairs_are_joined_as_documents_are(tmp_path, collection_folder, tiny_model_folder):
    folder = tmp_path / "run"
    recipe = small_recipe(collection_folder, tiny_model_folder, folder, "lexicon=null", "dense.join=separator", "dense.pretrain=null")
    run(recipe)
    retriever = Retriever("dense", recipe.dense, folder, Collection.open(folder / "collection"), "english")
    for before, after in zip(read_pairs(folder / "pairs" / TRAIN), retriever.rejoined(read_pairs(folder / "pairs" / TRAIN)), strict=True):
        title = retriever.collection[retriever.collection.position(before.document)].title
        begins = before.positive.startswith(f"{title} ")
        assert after.positive.startswith(f"{title}[SEP]") == begins and after.positive.replace("[SEP]", " ") == before.positive
    assert retriever.joined("d3").count("[SEP]") == 1 and "[SEP]" not in retriever.text("d3")
