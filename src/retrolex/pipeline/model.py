"""The stages of one retriever: pre-train, fine-tune, guard, encode, index."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from retrolex.artifacts import Stage, read_manifest
from retrolex.backbones import Spec, load_backbone, read_spec, resolve_start, write_spec
from retrolex.backbones.spec import positions
from retrolex.collection import Collection
from retrolex.encoding import Encoder
from retrolex.encoding.shards import encode_shards, read_shards
from retrolex.finetuning.guard import GUARDED, Candidate, choose
from retrolex.finetuning.negatives import NEGATIVES, read_negatives
from retrolex.finetuning.pairs import TRAIN, read_pairs
from retrolex.finetuning.train import finetune
from retrolex.index.dense import DenseIndex
from retrolex.index.lexicon import LexiconIndex
from retrolex.pipeline.recipe import Model
from retrolex.pipeline.stages import GUARD, POOL, execute, texts
from retrolex.pretraining.probe import known_items
from retrolex.pretraining.train import pretrain
from retrolex.search.systems import LEXICON
from retrolex.tokens import Tokens

PROBED = 200  # documents at most that pre-training leaves out to watch itself with


class Retriever:
    """One representation's chain of folders below ``RUN/NAME/``.

    Args:
        name: ``dense`` or ``lexicon``: the representation, and the folder's name.
        model: its section of the recipe.
        run: the run's folder.
    """

    def __init__(self, name: str, model: Model, run: Path, collection: Collection):
        self.name, self.model, self.run, self.collection = name, model, run, collection
        self.folder = run / name

    def spec(self) -> Spec:
        """How the start makes vectors, with the recipe's lengths as far as the start has positions for them."""
        spec = read_spec(Path(resolve_start(self.model.init)))
        spec = replace(spec, representation=self.name)
        lengths = {"document_length": self.model.document_length, "query_length": self.model.query_length}
        longest = positions(Path(resolve_start(self.model.init)))
        return replace(spec, **{name: min(value, longest) for name, value in lengths.items() if value})

    def start_retrieves(self, start: Path) -> bool:
        """Whether the start makes such vectors already: any checkpoint makes dense ones, one that came with an LM head lexicon ones."""
        return self.name == "dense" or (read_manifest(start) or {})["counts"]["new head"] == "no"

    def kept_start(self, model: Path) -> bool:
        """Whether the guard shipped the start's own weights, so that the start's vectors serve as well."""
        guarded = model / GUARDED
        return guarded.exists() and json.loads(guarded.read_text(encoding="utf-8"))["alpha"] == 0

    def adapt(self, start: Path, tokens: Path, pairs: Path) -> Path:
        """Train as the recipe says; returns the folder of the model to use."""
        adapted = start
        if self.model.pretrain:
            adapted = self.pretrain(adapted, tokens)
        if self.model.finetune:
            adapted = self.finetune(adapted, pairs)
        if self.model.guard and (self.model.pretrain or self.model.finetune):
            adapted = self.guard(start, adapted, pairs)
        return adapted

    def pretrain(self, start: Path, tokens: Path) -> Path:
        """``pretrain/``."""
        options = self.model.pretrain

        def work(out: Path) -> dict[str, Any]:
            backbone, tokenizer = load_backbone(start)
            held_out = known_items(self.collection, PROBED)
            counts = pretrain(backbone, tokenizer, Tokens.open(tokens), out, options, spec=self.spec(), held_out=held_out)
            write_spec(out, replace(self.spec(), objective=options.objective))
            return counts

        inputs = {"start": start, "tokens": tokens, "collection": self.run / "collection"}
        execute(Stage(f"{self.name}/pretrain", self.folder / "pretrain", inputs, asdict(options)), work)
        return self.folder / "pretrain"

    def finetune(self, start: Path, pairs: Path) -> Path:
        """``finetune/``."""

        def work(out: Path) -> dict[str, Any]:
            backbone, tokenizer = load_backbone(start)
            made, negatives = read_pairs(pairs / TRAIN), read_negatives(pairs / NEGATIVES)
            return finetune(backbone, tokenizer, self.spec(), made, negatives, self.text, out, self.model.finetune)

        inputs = {"start": start, "pairs": pairs, "collection": self.run / "collection"}
        execute(Stage(f"{self.name}/finetune", self.folder / "finetune", inputs, asdict(self.model.finetune)), work)
        return self.folder / "finetune"

    def text(self, id: str) -> str:
        """Full text of a document."""
        return self.collection[self.collection.position(id)].full

    def guard(self, start: Path, adapted: Path, pairs: Path) -> Path:
        """``model/``: the start, the adapted model, or a model between them, whichever the held-out pairs prefer."""

        def work(out: Path) -> dict[str, Any]:
            pool = [Candidate(row.original, row.positive) for row in read_pairs(pairs / POOL)]
            choice = choose(start, adapted, read_pairs(pairs / GUARD), pool, lambda folder: Encoder(folder, spec=self.spec()).encode, out)
            return {"alpha": str(choice.alpha), "reason": choice.reason}

        inputs = {"start": start, "adapted": adapted, "pairs": pairs}
        execute(Stage(f"{self.name}/model", self.folder / "model", inputs), work)
        return self.folder / "model"

    def index(self, model: Path, name: str = "") -> Path:
        """``vectors/`` and ``index/`` of a model (``NAME-vectors`` and so on for another model than the adapted one)."""
        vectors, index = (self.folder / f"{name}{'-' if name else ''}{what}" for what in ("vectors", "index"))
        stage = f"{self.name}/{vectors.name}"

        def encode(out: Path) -> dict[str, Any]:
            encoder = Encoder(model, spec=self.spec(), top_k=self.model.top_k)
            return encode_shards(len(self.collection), lambda a, b: list(texts(self.collection, a, b)), encoder.encode, out, f"Encoding ({stage})")

        def build(out: Path) -> dict[str, Any]:
            if self.name == "dense":
                return {"bytes": DenseIndex.build(out, self.collection.ids, read_shards(vectors)).bytes}
            return {"bytes": LexiconIndex.build(out / LEXICON, self.collection.ids, read_shards(vectors), self.model.weights).bytes}

        execute(
            Stage(stage, vectors, {"model": model, "collection": self.run / "collection"}, {"top_k": self.model.top_k, "spec": asdict(self.spec())}),
            encode,
        )
        config = {"weights": self.model.weights} if self.name == "lexicon" else {"kind": "flat"}
        execute(Stage(f"{self.name}/{index.name}", index, {"vectors": vectors, "collection": self.run / "collection"}, config), build)
        return index
