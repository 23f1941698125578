"""The recipe: everything that decides a run, read from YAML, checked, and written beside the results."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.dataclasses import dataclass as checked

from retrolex.backbones.joining import Join
from retrolex.errors import UserError
from retrolex.evaluation.measures import DEFAULT_MEASURES
from retrolex.finetuning.negatives import MiningOptions
from retrolex.finetuning.options import FinetuneOptions, StageOptions
from retrolex.finetuning.pseudo_queries import PairOptions
from retrolex.finetuning.stages import LENGTHS, spelled_out
from retrolex.pretraining.train import PretrainConfig

STRICT = ConfigDict(extra="forbid")
Pretrain = checked(PretrainConfig, config=STRICT, frozen=True)
FinetuneStage = checked(StageOptions, config=STRICT, frozen=True)
Pairs = checked(PairOptions, config=STRICT, frozen=True)
Mining = checked(MiningOptions, config=STRICT, frozen=True)
RETRIEVERS = ("dense", "lexicon", "dupmae")  # in the order in which they are trained: the later can mine with the earlier


@checked(config=STRICT, frozen=True)
class Finetune(FinetuneOptions):
    """One stage, or up to three, each a list item that starts again from the pre-trained checkpoint; what a stage does not say is as this
    section says, else as in the papers (`stages.papers`)."""

    stages: tuple[FinetuneStage, ...] = ()


class Part(BaseModel):
    """A section of the recipe; a key it does not know is an error."""

    model_config = STRICT


class Source(Part):
    """Where the text is: a folder, a file, or a collection that comes with retrolex."""

    source: str
    reader: str | None = None
    columns: dict[str, str] = Field(default_factory=dict)
    language: str = "english"


class BM25(Part):
    """The baseline, in Lucene's variant."""

    k1: float = Field(default=0.9, ge=0, allow_inf_nan=False)
    b: float = Field(default=0.4, ge=0, le=1)


class Windows(Part):
    """Long documents as overlapping passages; null indexes the beginning of each document only.

    Attributes:
        length: of a passage in tokens, specials included; the model's document length by default.
        overlap: tokens that neighbouring passages share.
        score: of a document: its ``best`` passage's, its ``first``'s, or the sum of its best three (``top3``).
    """

    length: int | None = Field(default=None, ge=8)
    overlap: int = Field(default=32, ge=0)
    score: Literal["best", "first", "top3"] = "best"


class Model(Part):
    """One retriever: where it starts, and what is done to it. None skips a step.

    Attributes:
        guard: whether start, adapted model and averages of the two are compared on held-out queries, and the winner is used; None: where the
            start makes such vectors already.
        kind: of a dense index (`index.dense_kinds`): ``flat`` is exact, the others trade recall for speed or size.
    """

    init: str
    pretrain: Pretrain | None = None
    finetune: Finetune | None = None
    guard: bool | None = None
    document_length: int | None = Field(default=None, ge=8)
    query_length: int | None = Field(default=None, ge=8)
    top_k: int | None = Field(default=None, ge=1)
    weights: Literal["floor", "round", "float"] = "floor"
    kind: Literal["flat", "pq", "ivfpq", "hnsw", "sq8"] = "flat"
    passages: Windows | None = None
    join: Join | None = None  # of title and text; as the start was trained, by a space where it says nothing

    @model_validator(mode="after")
    def passages_get_on(self) -> Model:
        """A passage is longer than what it shares with the next."""
        length = (self.passages and self.passages.length) or self.document_length
        if self.passages and length and self.passages.overlap + 2 >= length:
            raise ValueError(f"passages of {length} tokens, 2 of them special, cannot overlap by {self.passages.overlap}")
        return self


class Scratch(Part):
    """What a start from nothing is, where `init` is ``scratch``: a random BERT, and a WordPiece vocabulary learned from the collection."""

    layers: int = Field(default=6, ge=1)
    hidden_size: int = Field(default=384, ge=32, multiple_of=32)
    vocabulary: int = Field(default=16_000, ge=100)


class Search(Part):
    """How deep to search, and how the runs are fused.

    Attributes:
        depth: documents of each system.
        fusion: ``auto``: weights of z-scores, tuned on the dev split where there is one; ``minmax`` and ``none``: the same with that
            normalisation of scores; ``equal``: equal weights of z-scores; ``rrf``: reciprocal ranks; ``rescore``: the lexicon's best 100 in the
            order of the dense scores, and ``ensemble``: lexicon and dense scores summed as they are (both Shen et al. 2023).
    """

    depth: int = Field(default=1000, ge=1)
    fusion: Literal["auto", "rrf", "equal", "minmax", "none", "rescore", "ensemble"] = "auto"


class Evaluate(Part):
    """What is measured, on which split."""

    split: str = "test"
    measures: list[str] = Field(default_factory=lambda: list(DEFAULT_MEASURES))
    self_hits: Literal["keep", "remove"] = "keep"


def default_dense() -> Model:
    """RetroMAE from a sentence encoder that is tuned already: gently, and guarded."""
    return Model(
        init="minilm",
        document_length=128,
        pretrain=Pretrain(objective="retromae", tokens_per_batch=4096, steps=20, learning_rate=2e-5, probe_every=20),
        finetune=Finetune(steps=20, queries=32, hard=1, learning_rate=2e-5),
    )


def default_lexicon() -> Model:
    """LexMAE from the same start, whose new head has everything to learn."""
    return Model(
        init="minilm",
        document_length=128,
        pretrain=Pretrain(objective="lexmae", tokens_per_batch=4096, steps=16, learning_rate=1e-4, probe_every=16),
        finetune=Finetune(steps=36, queries=32, hard=1, learning_rate=1e-4, scale=0.05, flops=0.001),
    )


class Expected(Part):
    """A figure that a run of the recipe must reach, checked by `retrolex reproduce`.

    Attributes:
        measure: in the grammar of ir_measures, or an alias.
        system: row of the table, such as ``adapted dense``.
        split: whose queries.
        value, tolerance: the figure must be at least their difference.
        source: who says so: paper and table, or the run that measured it.
        collection: path of the collection below ``--data``, where it is not the recipe's own.
    """

    measure: str
    system: str
    split: str = "test"
    value: float = Field(ge=0, le=1)
    tolerance: float = Field(ge=0, le=1)
    source: str
    collection: str | None = None


class Recipe(Part):
    """A whole run. Leave `dense` or `lexicon` out (null) for a run without it."""

    collection: Source
    output: str | None = None
    seed: int = 42
    bm25: BM25 = Field(default_factory=BM25)
    pairs: Pairs = Field(default_factory=lambda: Pairs(count=20_000))
    mining: Mining = Field(default_factory=lambda: Mining(per_query=3))
    scratch: Scratch = Field(default_factory=Scratch)
    dense: Model | None = Field(default_factory=default_dense)
    lexicon: Model | None = Field(default_factory=default_lexicon)
    dupmae: Model | None = None
    search: Search = Field(default_factory=Search)
    evaluate: Evaluate = Field(default_factory=Evaluate)
    expected: list[Expected] = Field(default_factory=list)

    @property
    def models(self) -> dict[str, Model]:
        """The retrievers of this run by representation."""
        return {name: model for name in RETRIEVERS if (model := getattr(self, name)) is not None}

    @property
    def folder(self) -> Path:
        """Where the run is written: `output`, or ``runs/`` and the collection's name."""
        return Path(self.output or Path("runs") / Path(self.collection.source).name.split(".")[0])

    def plain(self) -> dict[str, Any]:
        """The recipe as plain values, every default spelled out."""
        return self.model_dump(mode="json")


def read_recipe(path: Path, overrides: list[str] | None = None) -> Recipe:
    """Read and check a YAML recipe.

    Args:
        path: the file.
        overrides: ``dotted.key=value`` items, values in YAML.

    Raises:
        UserError: no such file, not YAML, a key that no recipe has or a value it cannot have; names file and line.
    """
    if not path.is_file():
        raise UserError("no such recipe", where=path, mend="name a YAML file, or use --collection FOLDER without a recipe")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"not UTF-8 text: {error}", where=path, mend="save the recipe as UTF-8") from None
    try:
        stated, nodes = yaml.safe_load(text), yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else path
        raise UserError(f"not YAML: {getattr(error, 'problem', error)}", where=where, mend="check the indentation and the colons") from None
    if not isinstance(stated, dict):
        raise UserError("expected keys and values", where=path, mend="begin with 'collection:' and 'source: FOLDER' below it")
    return make_recipe(stated, overrides, where=lambda keys: f"{path}:{line_of(nodes, keys)}")


def make_recipe(stated: dict[str, Any], overrides: list[str] | None = None, where: Any = lambda keys: "recipe") -> Recipe:
    """Check plain values and fill in the defaults: sections are merged into theirs, key by key."""
    for item in overrides or ():
        override(stated, item)
    base = Recipe(collection=Source(source="")).plain()
    try:
        return Recipe.model_validate(staged(seeded(merged(base, stated), stated), stated))
    except ValidationError as error:
        first = error.errors()[0]
        keys = [str(key) for key in first["loc"]]
        name = ".".join(keys)
        if any(item.startswith(f"{name}=") for item in overrides or ()):
            where = lambda keys: "--set"  # noqa: E731
        if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            raise UserError(f"no recipe has the key {name!r}", where=where(keys), mend=f"known here: {', '.join(known(base, keys[:-1]))}") from None
        raise UserError(f"{name}: {first['msg']}", where=where(keys), mend="correct the value") from None


def override(stated: dict[str, Any], item: str) -> None:
    """Apply one ``dotted.key=value``.

    Raises:
        UserError: no equals sign, or a value that is not YAML.
    """
    key, sign, value = item.partition("=")
    if not sign or not key:
        raise UserError(f"{item!r} is not key=value", where="--set", mend="write --set dense.pretrain.steps=200")
    *sections, last = key.split(".")
    for section in sections:
        if not isinstance(stated.get(section), dict):
            stated[section] = {}
        stated = stated[section]
    try:
        stated[last] = yaml.safe_load(value)
    except yaml.YAMLError:
        raise UserError(f"the value of {key!r} is not YAML: {value!r}", where="--set", mend="quote it") from None


def merged(base: Any, stated: Any) -> Any:
    """`stated` over `base`, section by section; null removes a section."""
    if isinstance(base, dict) and isinstance(stated, dict):
        return base | {key: merged(base.get(key), value) for key, value in stated.items()}
    return stated


def seeded(recipe: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    """The recipe's seed in every section that has one and was not given its own."""
    trained = [f"{name}.{part}" for name in RETRIEVERS for part in ("pretrain", "finetune")]
    for section in ("pairs", "mining", *trained):
        here, said = recipe, stated
        for key in section.split("."):
            here, said = (part.get(key) if isinstance(part, dict) else None for part in (here, said))
        if isinstance(here, dict) and not (isinstance(said, dict) and "seed" in said):
            here["seed"] = recipe["seed"]
    return recipe


def staged(recipe: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    """The recipe with its fine-tuning stages spelled out, and the papers' lengths beside them where none are given."""
    for name in RETRIEVERS:
        said = stated.get(name)
        section = said.get("finetune") if isinstance(said, dict) else None
        if isinstance(section, dict) and isinstance(section.get("stages"), (list, tuple)) and section["stages"]:
            recipe[name] |= {"finetune": spelled_out(section, name, recipe["seed"])} | {key: said.get(key) or LENGTHS[key] for key in LENGTHS}
    return recipe


def known(base: Any, keys: list[str]) -> list[str]:
    """Names of the keys that a section has."""
    if "stages" in keys:
        return sorted(field.name for field in fields(StageOptions))
    for key in keys:
        base = base.get(key, {}) if isinstance(base, dict) else {}
    return sorted(base) if isinstance(base, dict) else []


def line_of(node: Any, keys: list[str]) -> int:
    """Line, from 1, of the key at a path in composed YAML; of its nearest ancestor when it is not there."""
    line = 1
    for key in keys:
        if isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
            node = node.value[int(key)]
            line = node.start_mark.line + 1
            continue
        if not isinstance(node, yaml.MappingNode):
            break
        found = next(((name, value) for name, value in node.value if name.value == key), None)
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line


def plain(options: Any) -> dict[str, Any]:
    """A section as plain values, for a stage's configuration."""
    return asdict(options) if is_dataclass(options) else options.model_dump(mode="json")
