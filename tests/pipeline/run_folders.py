"""What `retrolex run` leaves behind, as far as searching needs it."""

from __future__ import annotations

import shutil
from pathlib import Path

from retrolex.artifacts import write_json
from retrolex.collection import Collection, import_collection
from retrolex.encoding import Encoder
from retrolex.index.bm25 import BM25Index
from retrolex.index.dense import DenseIndex
from retrolex.index.lexicon import LexiconIndex
from retrolex.search.systems import LEXICON


def build_run(source: Path, model: Path, folder: Path) -> Path:
    """A run of BM25, a dense and a lexicon retriever that share a model."""
    for part in ("collection", "bm25", "dense", "hybrid", "pairs"):
        (folder / part).mkdir(parents=True)
    import_collection(source, folder / "collection")
    collection = Collection.open(folder / "collection")
    texts = [document.full for document in collection]
    BM25Index.build(folder / "bm25", collection.ids, texts)
    DenseIndex.build(folder / "dense", collection.ids, [Encoder(model, "dense").encode(texts)])
    LexiconIndex.build(folder / "lexicon" / LEXICON, collection.ids, [Encoder(model, "lexicon").encode(texts)])
    shutil.copytree(model, folder / "model")
    systems = {name: {"kind": name, "model": "model", "index": name} for name in ("bm25", "dense", "lexicon")}
    write_json(folder / "hybrid/systems.json", {"hybrid": {"method": "rrf", "weights": dict.fromkeys(systems, 1), "reason": ""}, "systems": systems})
    return folder
