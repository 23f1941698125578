"""The stages of one retriever: pre-train, fine-tune, guard, encode, index."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from retrolex.artifacts import Stage, read_manifest
from retrolex.backbones import Spec, load_backbone, read_spec, resolve_start, write_spec
from retrolex.backbones.joining import rejoined
from retrolex.backbones.spec import positions
from retrolex.backbones.two_part import FILE as PROJECTION
from retrolex.backbones.two_part import read_projection
from retrolex.collection import Collection
from retrolex.encoding.documents import encode_documents, encode_passages
from retrolex.encoding.shards import read_shards
from retrolex.encoding.two_part import TWO_PART, open_encoder
from retrolex.finetuning.guard import GUARDED, Candidate, choose
from retrolex.finetuning.pairs import Pair, read_pairs
from retrolex.index.dense import DenseIndex
from retrolex.index.lexicon import LexiconIndex
from retrolex.index.passages import PASSAGES, describe_passages
from retrolex.index.two_part import TwoPartIndex
from retrolex.pipeline.finetuning import Miner, train_model
from retrolex.pipeline.processes import execute_together, leads
from retrolex.pipeline.recipe import Model
from retrolex.pipeline.stages import GUARD, POOL, execute, separator_of, texts, tokens_folder
from retrolex.pretraining.probe import known_items
from retrolex.pretraining.train import pretrain
from retrolex.search.systems import LEXICON
from retrolex.tokens import Tokens
from retrolex.tokens.passages import Passages

BESIDES = ("log_every", "save_every", "workers", "report_to")  # settings of pre-training that change nothing in the model
PROBED = 200  # documents at most that pre-training leaves out to watch itself with


class Retriever:
    """One representation's chain of folders below ``RUN/NAME/``.

    Args:
        name: ``dense``, ``lexicon`` or ``dupmae``: the representation, and the folder's name.
        model: its section of the recipe.
        run: the run's folder.
        language: of the collection.
    """

    def __init__(self, name: str, model: Model, run: Path, collection: Collection, language: str):
        self.name, self.model, self.run, self.collection, self.language = name, model, run, collection, language
        self.folder = run / name

    def spec(self) -> Spec:
        """How the start makes vectors, with the recipe's lengths as far as the start has positions for them."""
        spec = read_spec(Path(resolve_start(self.model.init)))
        spec = replace(spec, representation=self.name, separator=self.separator)
        lengths = {"document_length": self.model.document_length, "query_length": self.model.query_length}
        longest = positions(Path(resolve_start(self.model.init)))
        return replace(spec, **{name: min(value, longest) for name, value in lengths.items() if value})

    @cached_property
    def separator(self) -> str:
        """What stands between title and text."""
        return separator_of(self.model.init, self.model.join)

    @property
    def tokens(self) -> Path:
        """The collection in the start's tokens."""
        return tokens_folder(self.run, self.model.init, self.separator)

    def window_spec(self) -> Spec:
        """`spec`, with the passages' length in place of the documents'."""
        spec, length = self.spec(), self.model.passages.length
        return replace(spec, document_length=min(length, positions(Path(resolve_start(self.model.init))))) if length else spec

    def start_retrieves(self, start: Path) -> bool:
        """Whether the start makes such vectors already: any checkpoint makes dense ones, one that came with an LM head lexicon ones, and one
        that came with a projection two-part ones."""
        if self.name == TWO_PART:
            return (start / PROJECTION).exists()
        return self.name == "dense" or (read_manifest(start) or {})["counts"]["new head"] == "no"

    def kept_start(self, model: Path) -> bool:
        """Whether the guard shipped the start's own weights, so that the start's vectors serve as well."""
        guarded = model / GUARDED
        return guarded.exists() and json.loads(guarded.read_text(encoding="utf-8"))["alpha"] == 0

    def train(self, start: Path, tokens: Path, pairs: Path, miners: Mapping[str, Miner]) -> Path:
        """Pre-train and fine-tune as the recipe says; returns the last model's folder.

        Args:
            miners: models of earlier retrievers, which negatives may be mined with.
        """
        trained = self.pretrain(start, tokens) if self.model.pretrain else start
        return train_model(self, trained, pairs, miners) if self.model.finetune else trained

    def guarded(self, start: Path, trained: Path, pairs: Path) -> Path:
        """The model to use of a start and what became of it."""
        guard = self.start_retrieves(start) if self.model.guard is None else self.model.guard
        return self.guard(start, trained, pairs) if guard and trained != start else trained

    def pretrain(self, start: Path, tokens: Path) -> Path:
        """``pretrain/``."""
        options = self.model.pretrain

        def work(out: Path) -> dict[str, Any]:
            backbone, tokenizer = load_backbone(start)
            held_out = known_items(self.collection, PROBED, language=self.language)
            counts = pretrain(backbone, tokenizer, Tokens.open(tokens), out, options, spec=self.spec(), held_out=held_out)
            if leads():
                write_spec(out, replace(self.spec(), objective=options.objective))
            return counts

        inputs = {"start": start, "tokens": tokens, "collection": self.run / "collection"}
        config = {name: value for name, value in asdict(options).items() if name not in BESIDES}
        execute_together(Stage(f"{self.name}/pretrain", self.folder / "pretrain", inputs, config), work)
        return self.folder / "pretrain"

    def text(self, id: str) -> str:
        """Full text of a document."""
        return self.collection[self.collection.position(id)].full

    def joined(self, id: str) -> str:
        """Title and text of a document as this retriever reads them."""
        return self.collection[self.collection.position(id)].joined(self.separator)

    def rejoined(self, pairs: list[Pair]) -> list[Pair]:
        """Pairs whose positives begin with a title: joined to the text as this retriever reads them."""
        if self.separator == " ":
            return pairs
        titles = [self.collection[self.collection.position(pair.document)].title if pair.document in self.collection else "" for pair in pairs]
        return [replace(pair, positive=rejoined(pair.positive, title, self.separator)) for pair, title in zip(pairs, titles, strict=True)]

    def guard(self, start: Path, adapted: Path, pairs: Path) -> Path:
        """``model/``: the start, the adapted model, or a model between them, whichever the held-out pairs prefer."""

        def work(out: Path) -> dict[str, Any]:
            pool = [Candidate(row.original, row.positive) for row in self.rejoined(read_pairs(pairs / POOL))]
            held_out = self.rejoined(read_pairs(pairs / GUARD))
            choice = choose(start, adapted, held_out, pool, lambda folder: open_encoder(folder, self.name, spec=self.spec()).encode, out)
            return {"alpha": str(choice.alpha), "reason": choice.reason}

        inputs = {"start": start, "adapted": adapted, "pairs": pairs}
        execute(Stage(f"{self.name}/model", self.folder / "model", inputs), work)
        return self.folder / "model"

    def index(self, model: Path, name: str = "") -> Path:
        """``vectors/`` and ``index/`` of a model (``NAME-vectors`` and so on for another model than the adapted one)."""
        vectors, index = (self.folder / f"{name}{'-' if name else ''}{what}" for what in ("vectors", "index"))
        stage = f"{self.name}/{vectors.name}"

        tokens, windows = self.tokens, self.model.passages
        spec = self.window_spec() if windows else self.spec()

        def encode(out: Path) -> dict[str, Any]:
            encoder, cached, label = open_encoder(model, self.name, spec=spec, top_k=self.model.top_k), Tokens.open(tokens), f"Encoding ({stage})"
            if windows:
                return encode_passages(encoder, cached, windows.overlap, out, label)
            return encode_documents(encoder, cached, lambda a, b: list(texts(self.collection, a, b, spec.separator)), out, label)

        def build(out: Path) -> dict[str, Any]:
            ids = self.collection.ids
            if windows:
                passages = Passages.open(vectors)
                describe_passages(out / PASSAGES, passages, ids, windows.score, spec.separator)
                ids = passages.ids(ids)
            if self.name == "dense":
                built = DenseIndex.build(out, ids, read_shards(vectors), self.model.kind)
                return {"bytes": built.bytes} | ({} if built.recall is None else {"recall": f"{built.recall:.3f}"})
            if self.name == TWO_PART:
                return {"bytes": TwoPartIndex.build(out, ids, read_shards(vectors), read_projection(model).out_features).bytes}
            return {"bytes": LexiconIndex.build(out / LEXICON, ids, read_shards(vectors), self.model.weights).bytes}

        config = {"top_k": self.model.top_k, "spec": asdict(spec)} | ({"overlap": windows.overlap} if windows else {})
        execute(Stage(stage, vectors, {"model": model, "tokens": tokens, "collection": self.run / "collection"}, config), encode)
        config = {"weights": self.model.weights} if self.name == "lexicon" else {"kind": self.model.kind if self.name == "dense" else TWO_PART}
        config |= {"score": windows.score} if windows else {}
        execute(Stage(f"{self.name}/{index.name}", index, {"vectors": vectors, "collection": self.run / "collection"}, config), build)
        return index
