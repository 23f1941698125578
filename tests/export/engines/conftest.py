"""A finished run as an export sees it: a tiny model, documents, queries, a lexicon and a dense index."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
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

ODD = {"tab": "a\ttab", "empty": "", "quote": 'back\\slash "and" quotes, naïve 北京\nsecond line'}
"""Documents that break careless writers; the one without words has no terms either."""


def write_collection(folder: Path, documents: int, queries: int) -> None:
    """A BEIR folder of sentences put together at random, and odd documents."""
    draw, words = random.Random(7), " ".join(SENTENCES).lower().split()
    folder.mkdir(parents=True)
    texts = {f"doc {number:04d}": " ".join(draw.choices(words, k=draw.randint(3, 12))) for number in range(documents - len(ODD))} | ODD
    titles = {name: f"Title of {name}" if name != "empty" else "" for name in texts}
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
        encoder = sharpened(Encoder(home / "model"))

        def vectors(partial: Path, encoder: Encoder = encoder) -> dict[str, int]:
            texts = [document.full for document in collection]
            return encode_shards(len(texts), lambda a, b: texts[a:b], encoder.encode, partial, "Encoding")

        Stage(f"{name}/vectors", home / "vectors").run(vectors)
        inputs = {"vectors": home / "vectors", "collection": folder / "collection"}
        Stage(f"{name}/index", home / "index", inputs).run(lambda partial, name=name, home=home: build_index(name, partial, collection, home / "vectors"))
    described = {name: {"kind": name, "model": f"{name}/model", "index": f"{name}/index"} for name in ("lexicon", "dense")}
    (folder / "hybrid").mkdir()
    write_json(folder / "hybrid" / "systems.json", {"systems": described, "hybrid": {"method": "rrf", "weights": {"lexicon": 1.0, "dense": 1.0}, "reason": "", "tried": {}}})
    write_json(folder / "recipe.json", {name: {"document_length": 48, "query_length": 32} for name in described})
    return folder


def build_index(name: str, partial: Path, collection: Collection, vectors: Path) -> dict[str, int]:
    """The index of one retriever."""
    if name == "dense":
        DenseIndex.build(partial, collection.ids, read_shards(vectors))
    else:
        LexiconIndex.build(partial / "lexicon", collection.ids, read_shards(vectors))
    return {"documents": len(collection)}


def sharpened(encoder: Encoder) -> Encoder:
    """A random model's weights are small and nearly all alike: keep a tenth of them and spread them out, so that ranks mean something."""
    if encoder.representation == "lexicon":
        plain = encoder.encode

        def encode(texts, kind="document"):
            rows = plain(texts, kind).toarray()
            cut = np.sort(rows, axis=1)[:, -30:-29]
            return sp.csr_array(np.where(rows > cut, (rows - cut) * 25, 0).astype(np.float32))

        encoder.encode = encode
    return encoder


@pytest.fixture(scope="session")
def run_folder(tiny_model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 300 documents and 100 queries."""
    return build_run(tmp_path_factory.mktemp("runs") / "run", tiny_model_folder, 300, 100)


@pytest.fixture(autouse=True)
def sharp(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries are encoded as the documents were."""
    from retrolex.encoding import two_part

    plain = two_part.open_encoder
    for module in ("retrolex.encoding.two_part", "retrolex.search.systems"):
        monkeypatch.setattr(f"{module}.open_encoder", lambda *given, **options: sharpened(plain(*given, **options)))


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
