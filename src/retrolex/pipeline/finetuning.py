"""Fine-tuning in stages, a folder each: negatives, teacher's scores, training."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from retrolex.artifacts import Stage
from retrolex.backbones import Spec, load_backbone
from retrolex.backbones.two_part import FILE as PROJECTION
from retrolex.backbones.two_part import read_projection
from retrolex.encoding.documents import encode_documents
from retrolex.encoding.shards import encode_shards, read_shards
from retrolex.encoding.two_part import TWO_PART, open_encoder
from retrolex.errors import UserError
from retrolex.finetuning.false_negatives import SPARE, without_false_negatives
from retrolex.finetuning.mined import line_of
from retrolex.finetuning.negatives import NEGATIVES, MiningOptions, mine_pools, read_negatives
from retrolex.finetuning.options import FinetuneOptions, StageOptions
from retrolex.finetuning.pairs import TRAIN, originals, read_pairs
from retrolex.finetuning.pools import Search, SearchPool
from retrolex.finetuning.retriever import TEACHERS
from retrolex.finetuning.stages import kept
from retrolex.finetuning.teachers import Teacher
from retrolex.finetuning.train import finetune
from retrolex.index.bm25 import BM25Index
from retrolex.index.dense import DenseIndex
from retrolex.index.lexicon import LexiconIndex
from retrolex.index.two_part import TwoPartIndex
from retrolex.pipeline.processes import execute_together, leads, processes
from retrolex.pipeline.stages import answers, execute, start_identity, texts
from retrolex.tokens import Tokens
from retrolex.tokens.framing import Framing

if TYPE_CHECKING:
    from retrolex.pipeline.model import Retriever

SCORES, CACHE = "scores.npy", "teachers"
BM25, MADE = "bm25", "-search"  # what a miner needs for the time being lies in a folder of its name with this ending
BESIDES = ("log_every", "save_every", "report_to")  # settings that change nothing in the model


@dataclass(frozen=True)
class Miner:
    """A model that negatives can be mined with."""

    name: str
    model: Path
    spec: Spec


def train_model(retriever: Retriever, start: Path, pairs: Path, miners: Mapping[str, Miner]) -> Path:
    """Carry out the ``finetune`` section of a retriever, one stage or several; returns the last model's folder.

    Args:
        start: the pre-trained checkpoint, from which every stage starts again.
        pairs: the stage of that name.
        miners: final models of the retrievers that come earlier in the run.
    """
    options = retriever.model.finetune
    if not options.stages:
        return train_stage(retriever, "finetune", options, start, pairs, pairs, None)
    model = start
    for number, stage in enumerate(options.stages, 1):
        own = Miner(retriever.name, model, retriever.spec())
        negatives = mine_stage(retriever, number, stage, pairs, {**miners, retriever.name: own})
        scores = score_stage(retriever, number, stage, pairs, negatives) if stage.loss in TEACHERS else None
        model = train_stage(retriever, f"finetune-{number}", stage, start, pairs, negatives, scores)
    return model


def train_stage(retriever: Retriever, name: str, options: FinetuneOptions, start: Path, pairs: Path, negatives: Path, scores: Path | None) -> Path:
    """``finetune/``, or ``finetune-N/``."""

    def work(out: Path) -> dict[str, Any]:
        backbone, tokenizer = load_backbone(start)
        data = retriever.rejoined(read_pairs(pairs / TRAIN)), read_negatives(negatives / NEGATIVES)
        teacher = np.load(scores / SCORES, allow_pickle=False) if scores else None
        known = answers(retriever.collection, originals(retriever.collection))
        projection = read_projection(start) if retriever.name == TWO_PART and (start / PROJECTION).exists() else None
        cached = cached_documents(retriever, tokenizer)
        return finetune(backbone, tokenizer, retriever.spec(), *data, retriever.joined, out, options, teacher, known, projection, cached)

    inputs = {"start": start, "pairs": pairs, "collection": retriever.run / "collection"}
    inputs |= {"negatives": negatives} if negatives != pairs else {}
    inputs |= {"teacher": scores} if scores else {}
    config = {field.name: getattr(options, field.name) for field in fields(FinetuneOptions) if field.name not in BESIDES}
    execute_together(Stage(f"{retriever.name}/{name}", retriever.folder / name, inputs, {**config, "spec": asdict(retriever.spec())}), work)
    return retriever.folder / name


def cached_documents(retriever: Retriever, tokenizer: Any) -> Callable[[str], Sequence[int]] | None:
    """Tokens of the run's documents by id, as the model reads them; None where the cache would not give what the texts give."""
    tokens, spec = Tokens.open(retriever.tokens), retriever.spec()
    framing = Framing(tokenizer, spec.document_prefix, spec.document_length)
    return (lambda id: framing.framed(tokens[retriever.collection.position(id)])) if framing.reads(tokens) else None


def mine_stage(retriever: Retriever, number: int, options: StageOptions, pairs: Path, miners: Mapping[str, Miner]) -> Path:
    """``negatives-N/``: what BM25 or a model ranks high, of which nothing answers the query, nor seems to by the teacher where it is asked.

    Raises:
        UserError: the model to mine with is none of this run.
    """
    folder, collection = retriever.folder / f"negatives-{number}", retriever.collection
    inputs = {"pairs": pairs, "collection": retriever.run / "collection"}
    asked = options.teacher_margin is not None
    margins = {"absolute_margin": options.absolute_margin, "relative_margin": options.relative_margin}
    mining = MiningOptions(per_query=kept(options) * (SPARE if asked else 1), seed=options.seed, **margins)
    config = {**asdict(mining), "first": options.first, "depth": options.depth, "miners": {}}
    for name in options.miners:
        if name == BM25:
            inputs[BM25] = retriever.run / BM25
        elif name in miners:
            inputs[f"{name} model"] = miners[name].model
            config["miners"][name] = asdict(miners[name].spec)
        else:
            what, where = f"no model {name!r} to mine with", f"{retriever.name}.finetune.stages.{number - 1}"
            raise UserError(what, where=where, mend=f"choose among {', '.join([BM25, *miners])}; others are trained later, or not at all")
    config["order"] = list(options.miners)
    config |= {"teacher": start_identity(options.teacher), "teacher margin": options.teacher_margin} if asked else {}

    def work(out: Path) -> dict[str, Any]:
        pools = []
        for name in options.miners:
            search = BM25Index.open(retriever.run / BM25).search if name == BM25 else model_search(retriever, miners[name], out / f"{name}{MADE}")
            pools.append(SearchPool(name, search, options.first, options.depth))
        first = originals(collection)
        data, known = read_pairs(pairs / TRAIN), answers(collection, first)
        place = out / f"candidates{MADE}" if asked else out
        place.mkdir(exist_ok=True)
        counts = mine_pools(data, pools, collection.ids, first, place, mining, known=known)
        if asked:
            found = read_negatives(place / NEGATIVES)
            scores = Teacher(options.teacher, retriever.run / CACHE).scores(data, found, retriever.text)
            limits = options.teacher_margin, kept(options)
            chosen, filtered = without_false_negatives(data, found, scores, *limits, collection.ids, first, known, options.seed)
            (out / NEGATIVES).write_text("".join(map(line_of, chosen)), encoding="utf-8", newline="\n")
            counts = filtered | {f"candidates: {name}": count for name, count in counts.items() if name != "pairs"}
        for made in out.glob(f"*{MADE}"):
            shutil.rmtree(made)
        return counts

    execute_first(Stage(f"{retriever.name}/{folder.name}", folder, inputs, config), work)
    return folder


def model_search(retriever: Retriever, miner: Miner, folder: Path) -> Search:
    """Encode the collection with a model and index it, below `folder`; returns the search."""
    vectors, index = folder / "vectors", folder / "index"
    for place in (vectors, index):
        place.mkdir(parents=True, exist_ok=True)
    encoder = open_encoder(miner.model, miner.name, spec=miner.spec)
    collection = retriever.collection
    label, join = f"Encoding ({folder.parent.name.removesuffix('.partial')})", miner.spec.separator

    def read(start: int, stop: int) -> list[str]:
        return list(texts(collection, start, stop, join))

    if join == retriever.separator:
        encode_documents(encoder, Tokens.open(retriever.tokens), read, vectors, label)
    else:
        encode_shards(len(collection), read, encoder.encode, vectors, label)
    width = encoder.width - encoder.backbone.vocabulary_size  # of two-part vectors' dense part
    built = build_index(miner.name, index, collection.ids, vectors, width)
    return lambda queries, depth: built.search(encoder.encode(queries, "query"), depth)


def build_index(representation: str, folder: Path, ids: list[str], vectors: Path, width: int) -> DenseIndex | LexiconIndex | TwoPartIndex:
    """The exact index of a representation; `width` is that of two-part vectors' dense part."""
    if representation == "dense":
        return DenseIndex.build(folder, ids, read_shards(vectors))
    if representation == TWO_PART:
        return TwoPartIndex.build(folder, ids, read_shards(vectors), width)
    return LexiconIndex.build(folder / representation, ids, read_shards(vectors))


def score_stage(retriever: Retriever, number: int, options: StageOptions, pairs: Path, negatives: Path) -> Path:
    """``teacher-N/``: a cross-encoder's scores of every pair's positive and negatives; single scores are kept in ``teachers/``."""
    folder = retriever.folder / f"teacher-{number}"

    def work(out: Path) -> dict[str, Any]:
        teacher = Teacher(options.teacher, retriever.run / CACHE)
        scores = teacher.scores(read_pairs(pairs / TRAIN), read_negatives(negatives / NEGATIVES), retriever.text)
        np.save(out / SCORES, scores, allow_pickle=False)
        return {"scores": scores.size, "positive first": f"{(scores.argmax(1) == 0).mean():.3f}"}

    inputs = {"pairs": pairs, "negatives": negatives, "collection": retriever.run / "collection"}
    execute_first(Stage(f"{retriever.name}/{folder.name}", folder, inputs, {"teacher": start_identity(options.teacher)}), work)
    return folder


def execute_first(stage: Stage, work: Any) -> None:
    """Run a stage in the first of several processes, while the others wait."""
    if leads():
        execute(stage, work)
    if processes() > 1:
        torch.distributed.barrier()
