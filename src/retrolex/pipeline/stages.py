"""The stages that every run shares: the collection, its BM25 index, its tokens, its training pairs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoTokenizer

from retrolex.artifacts import Stage, key_of, read_manifest, sha256, write_json
from retrolex.backbones import Spec, load_backbone, read_spec, resolve_start, save_backbone, write_spec
from retrolex.backbones.heads import blank_head, fit_head
from retrolex.backbones.joining import Join, separator
from retrolex.backbones.scratch import POSITIONS, SCRATCH, random_bert
from retrolex.backbones.two_part import FILE as PROJECTION
from retrolex.collection import Collection
from retrolex.collection.fingerprint import source_fingerprint
from retrolex.collection.importing import import_collection
from retrolex.encoding.two_part import open_encoder
from retrolex.errors import UserError
from retrolex.finetuning.guard import hard_pool
from retrolex.finetuning.keyphrases import NAME as KEYPHRASES
from retrolex.finetuning.keyphrases import Weigh, weigher
from retrolex.finetuning.negatives import mine
from retrolex.finetuning.pairs import HELD_OUT, TRAIN, Pair, judged_positives, originals, read_pairs, write_pairs
from retrolex.finetuning.pseudo_queries import LABELS, make_pairs
from retrolex.index.bm25 import BM25Index
from retrolex.pipeline.checks import RECIPE, alone, check, check_split
from retrolex.pipeline.recipe import Model, Recipe, plain
from retrolex.progress import say, track
from retrolex.starts import PACKAGED
from retrolex.tokens import Tokens, tokenize
from retrolex.tokens.train_tokenizer import train_wordpiece

TOKENIZER_FILES = (  # whichever of them a start has
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model"),
)
HEAD_SAMPLE = 256  # documents that a new LM head is fitted on
GUARD, GUARD_LIMIT, LABELLED = "guard.jsonl", 400, "labelled"  # pairs that the guard chooses by
POOL, POOL_SIZE = "pool.jsonl", 600  # documents that the guard tells the held-out positives from


def execute(stage: Stage, work: Callable[[Path], dict[str, Any] | None]) -> None:
    """Run a stage, and say whether it ran and what came of it."""
    ran = stage.run(work)
    manifest = read_manifest(stage.folder) or {}
    counts = ", ".join(
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in manifest["counts"].items() if _short(value)
    )
    say(f"[{stage.name}] " + (f"{manifest['seconds']:.1f} s" if ran else "up to date, skipped") + (f": {counts}" if counts else ""))


def _short(value: Any) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def texts(collection: Collection, start: int = 0, stop: int | None = None, separator: str = " ") -> Iterator[str]:
    """Title and text of documents, joined."""
    return (document.joined(separator) for document in collection.documents(start, stop))


def separator_of(init: str, join: Join | None) -> str:
    """What stands between title and text for a start: as the recipe says, else as the start was trained."""
    place = resolve_start(init)
    return separator(AutoTokenizer.from_pretrained(place), join) if join else read_spec(Path(place)).separator


def start_identity(init: str) -> dict[str, str]:
    """What tells one start from another: the hashes of its weights and of its tokenizer's files; for a hub model, its name."""
    place = Path(resolve_start(init))
    weights = place / "model.safetensors"
    if not weights.exists():
        return {"init": str(init)}
    tokenizer = {path.name: sha256(path) for path in sorted(place.iterdir()) if path.is_file() and path.name in TOKENIZER_FILES}
    projection = {"projection": sha256(place / PROJECTION)} if (place / PROJECTION).exists() else {}
    return {"init": Path(init).name, "sha256": sha256(weights), "tokenizer": key_of(tokenizer), **projection}


def start_label(init: str) -> str:
    """A start in a folder's name: its own name; for a folder with a few digits of its hash, since many are called ``model``."""
    identity = start_identity(init)
    if init in PACKAGED or "sha256" not in identity:
        return init.replace("/", "--")
    return f"{identity['init']}-{identity['sha256'][:6]}"


def collect(recipe: Recipe, folder: Path) -> Collection:
    """The source, read into ``collection/``."""
    source = recipe.collection
    config = {"source": source_fingerprint(source.source, source.reader), "columns": source.columns}
    execute(
        Stage("collection", folder / "collection", config=config), lambda out: import_collection(source.source, out, source.reader, source.columns)
    )
    return Collection.open(folder / "collection")


@contextmanager
def begun(recipe: Recipe) -> Iterator[Collection]:
    """A checked recipe's folder, for this process alone, with the recipe and the collection in it.

    Raises:
        UserError: something in the source or the recipe needs mending; a folder that was made for it is gone again.
    """
    check(recipe)
    made = not recipe.folder.exists()
    with alone(recipe.folder):
        write_json(recipe.folder / RECIPE, recipe.plain())
        try:
            collection = collect(recipe, recipe.folder)
        except UserError:
            if made:
                shutil.rmtree(recipe.folder)
            raise
        yield collection


def index_bm25(recipe: Recipe, folder: Path, collection: Collection) -> BM25Index:
    """``bm25/``."""
    config = {"language": recipe.collection.language, **plain(recipe.bm25)}

    def work(out: Path) -> dict[str, Any]:
        index = BM25Index.build(out, collection.ids, track(texts(collection), "Indexing (BM25)", len(collection)), **config)
        return {"documents": len(index)}

    execute(Stage("bm25", folder / "bm25", {"collection": folder / "collection"}, config), work)
    return BM25Index.open(folder / "bm25")


def make_start(recipe: Recipe, folder: Path, collection: Collection, init: str) -> str:
    """The start that a recipe names; ``scratch`` is made from the collection, in ``scratch/``."""
    if init != SCRATCH:
        return init
    size = recipe.scratch

    def work(out: Path) -> dict[str, Any]:
        tokenizer = train_wordpiece(track(texts(collection), "Learning a vocabulary", len(collection)), size.vocabulary, POSITIONS)
        save_backbone(random_bert(tokenizer, size.layers, size.hidden_size, recipe.seed), tokenizer, out)
        write_spec(out, Spec())
        return {"vocabulary": len(tokenizer)}

    execute(Stage(SCRATCH, folder / SCRATCH, {"collection": folder / "collection"}, {**plain(size), "seed": recipe.seed}), work)
    return str(folder / SCRATCH)


def tokens_folder(folder: Path, init: str, separator: str = " ") -> Path:
    """Where the tokens of a start lie."""
    return folder / (f"tokens-{start_label(init)}" + ("" if separator == " " else f"-{key_of(separator)[:6]}"))


def make_tokens(folder: Path, collection: Collection, init: str, separator: str = " ") -> Path:
    """``tokens-INIT/``: the collection in the start's own tokens, title and text joined by the separator."""
    out = tokens_folder(folder, init, separator)

    def work(partial: Path) -> dict[str, Any]:
        _, tokenizer = load_backbone(init)
        return tokenize(track(texts(collection, separator=separator), "Tokenising", len(collection)), tokenizer, partial)

    execute(Stage(out.name, out, {"collection": folder / "collection"}, {**start_identity(init), "separator": separator}), work)
    return out


def prepare_start(folder: Path, collection: Collection, init: str, tokens: Path) -> Path:
    """``start-INIT/``: the start as a model folder of ours; a start without an LM head gets one, fitted on the collection."""
    out = folder / f"start-{start_label(init)}"

    def work(partial: Path) -> dict[str, Any]:
        unigrams = Tokens.open(tokens).unigrams()
        backbone, tokenizer = load_backbone(init, unigrams=unigrams)
        sample = list(texts(collection, 0, HEAD_SAMPLE))
        counts: dict[str, Any] = {}
        if Path(init) == folder / SCRATCH:
            blank_head(backbone, tokenizer, sample, unigrams)
        elif backbone.head_is_new:
            counts = fit_head(backbone, tokenizer, sample, unigrams)
        counts = {"new head": "yes" if backbone.head_is_new else "no", **counts}
        save_backbone(backbone, tokenizer, partial)
        place = Path(resolve_start(init))
        write_spec(partial, read_spec(place))
        if (place / PROJECTION).exists():
            shutil.copyfile(place / PROJECTION, partial / PROJECTION)
        return counts

    execute(Stage(out.name, out, {"tokens": tokens, "collection": folder / "collection"}, start_identity(init)), work)
    return out


def prepare_model(recipe: Recipe, name: str, folder: Path, collection: Collection) -> tuple[Model, Path, Path]:
    """A retriever's section with the start as it is found on disk, the start's folder, and the collection in its tokens."""
    model = recipe.models[name]
    model = model.model_copy(update={"init": make_start(recipe, folder, collection, model.init)})
    tokens = make_tokens(folder, collection, model.init, separator_of(model.init, model.join))
    return model, prepare_start(folder, collection, model.init, tokens), tokens


def prepare_pairs(recipe: Recipe, folder: Path, collection: Collection, bm25: BM25Index, dev: str | None) -> Path:
    """``pairs/``: training pairs with BM25 negatives, held-out pairs, and what the guard chooses by.

    The guard gets the questions of the split `dev` where there is one, else held-out pairs, and documents easily taken for
    their answers.
    """
    config = {"pairs": asdict(recipe.pairs), "mining": asdict(recipe.mining), "pool": POOL_SIZE, "guard": dev or HELD_OUT}
    inputs = {"collection": folder / "collection", "bm25": folder / "bm25"}
    if recipe.pairs.shares.get(KEYPHRASES, 0) > 0 and LABELS not in collection.splits:
        inputs["weights"] = weighing_start(recipe, folder, collection)

    def work(out: Path) -> dict[str, Any]:
        counts = make_pairs(collection, out, recipe.pairs, weigh_by(inputs["weights"]) if "weights" in inputs else None, {"bm25": bm25.search})
        first = originals(collection)
        mined = mine(read_pairs(out / TRAIN), bm25.search, "bm25", collection.ids, first, out, recipe.mining, answers(collection, first))
        held_out = guard_pairs(collection, dev, first) if dev else read_pairs(out / HELD_OUT)
        write_pairs(out / GUARD, held_out)
        pool = hard_pool(held_out, bm25.search, POOL_SIZE, collection.ids, first, lambda id: collection[collection.position(id)].full)
        write_pairs(out / POOL, [Pair("", candidate.text, candidate.original, candidate.original, "pool") for candidate in pool])
        return counts | {f"negatives {name}": count for name, count in mined.items() if name != "pairs"} | {"pool": len(pool)}

    execute(Stage("pairs", folder / "pairs", inputs, config), work)
    return folder / "pairs"


def weighing_start(recipe: Recipe, folder: Path, collection: Collection) -> Path:
    """The prepared start whose lexicon weights choose keyphrases: one that came with a language-model head, the lexicon retriever's before others.

    Raises:
        UserError: none did.
    """
    for name in (name for name in ("lexicon", "dupmae", "dense") if name in recipe.models):
        _, start, _ = prepare_model(recipe, name, folder, collection)
        if (read_manifest(start) or {})["counts"]["new head"] == "no":
            return start
    what = "keyphrases are chosen by a lexicon model's weights, and no start of this run came with a language-model head"
    raise UserError(what, where="pairs.shares", mend="name a masked language model as lexicon.init, or leave the share out")


def weigh_by(start: Path) -> Weigh:
    """Weights of a text's terms by a start's own head."""
    encoder = open_encoder(start, "lexicon")
    names = encoder.tokenizer.convert_ids_to_tokens(range(len(encoder.tokenizer)))
    return weigher(encoder.encode, [*names, *[""] * (encoder.width - len(names))])  # a vocabulary may be padded


def answers(collection: Collection, first: np.ndarray) -> dict[str, set[str]]:
    """Query text -> originals that answer it by the judgments that are trained on, also those that no pair was made of."""
    return judged_positives(collection, LABELS, first) if LABELS in collection.splits else {}


def guard_pairs(collection: Collection, dev: str, first: np.ndarray) -> list[Pair]:
    """Real questions to choose between models by: every relevant judgment of the dev split."""
    pairs = []
    for query, grades in collection.qrels(dev).items():
        for id in (id for id, grade in grades.items() if grade > 0 and id in collection and query in collection.queries):
            position = collection.position(id)
            pairs.append(Pair(collection.queries[query], collection[position].full, id, collection.ids[first[position]], LABELLED))
    return pairs[:GUARD_LIMIT]


def evaluated_splits(recipe: Recipe, collection: Collection) -> tuple[str | None, str | None]:
    """The split to measure on and the one to tune on; None where there is none.

    Raises:
        UserError: the recipe names a split that the collection does not have, though it has others, or nothing can be measured
            with one of the two.
    """
    split = recipe.evaluate.split
    if split not in collection.splits:
        others = [name for name in collection.splits if name not in ("train", "dev")]
        if others:
            mend = f"--set evaluate.split={others[0]}"
            raise UserError(f"no judgments for the split {split!r}; there are: {', '.join(collection.splits)}", where="evaluate.split", mend=mend)
        split = None
    dev = "dev" if "dev" in collection.splits and split != "dev" else None
    for name in filter(None, (split, dev)):
        check_split(collection, name)
    return split, dev
