"""From a start to a model: one row of a table with one seed."""

from __future__ import annotations

from pathlib import Path

from benchmarks.ladder.plan import LENGTH, PLAIN, PLAIN_TRAINING, QUERY_LENGTH, Row, Table

from retrolex.collection import Collection
from retrolex.pipeline.finetuning import train_model
from retrolex.pipeline.model import Retriever
from retrolex.pipeline.pretraining import pretrain_only
from retrolex.pipeline.recipe import Model, Recipe, make_recipe
from retrolex.pipeline.stages import begun, index_bm25, prepare_model, prepare_pairs

LANGUAGE = "english"


def plain_start(source: Path, folder: Path) -> Path:
    """The plain start: a small BERT with a vocabulary of its own, both learned from the unlabelled text."""
    start = "scratch"
    for number, training in enumerate(PLAIN_TRAINING, 1):
        model = {"init": start, "document_length": LENGTH, "pretrain": training, "finetune": None, "guard": False}
        output = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        stated = {"collection": {"source": str(source)}, "output": str(output), "dense": model, "lexicon": None}
        start = str(pretrain_only(make_recipe(stated | ({"scratch": PLAIN} if start == "scratch" else {}))))
    return Path(start)


class Workshop:
    """One collection and one seed: every row that is trained there shares its pairs, tokens and starts.

    Args:
        source: a folder in BEIR layout.
        folder: gets a folder for every stage.
        starts: representation -> the start of its retriever.
    """

    def __init__(self, table: Table, source: Path, folder: Path, seed: int, starts: dict[str, str]):
        self.table, self.source, self.folder, self.seed, self.starts = table, source, folder, seed, starts

    def recipe(self, row: Row) -> Recipe:
        """A recipe of this row alone."""
        pretrain = {**self.table.pretrain, "objective": row.objective} if row.objective else None
        finetune = {**self.table.finetune, **(self.table.lexicon if row.representation == "lexicon" else {})} if row.finetuned else None
        model = {"init": self.starts[row.representation], "document_length": LENGTH, "query_length": QUERY_LENGTH, "guard": False}
        models = {"dense": None, "lexicon": None} | {row.representation: {**model, "pretrain": pretrain, "finetune": finetune}}
        source = {"source": str(self.source), "language": LANGUAGE}
        return make_recipe({"collection": source, "output": str(self.folder), "seed": self.seed, "pairs": {"count": self.table.pairs}, **models})

    def train(self, row: Row) -> tuple[Retriever, Path]:
        """The row's retriever and the folder of its last model, trained unless it lies there already."""
        recipe = self.recipe(row)
        with begun(recipe) as collection:
            bm25 = index_bm25(recipe, self.folder, collection)
            pairs = prepare_pairs(recipe, self.folder, collection, bm25, None)
            section, model, tokens = prepare_model(recipe, row.representation, self.folder, collection)
            if row.objective:
                # Pre-training as a masked language model is the same whatever the vectors will be: both rows share it.
                name = "dense" if row.objective == "mlm" else row.representation
                model = self.retriever(name, section, collection, f"{row.objective}-{model.name}").pretrain(model, tokens)
            retriever = self.retriever(row.representation, section, collection, slug(row.name))
            return retriever, train_model(retriever, model, pairs, {}) if row.finetuned else model

    def retriever(self, name: str, section: Model, collection: Collection, folder: str) -> Retriever:
        """A retriever whose stages lie in a folder of their own."""
        retriever = Retriever(name, section, self.folder, collection, LANGUAGE)
        retriever.folder = self.folder / folder
        return retriever


def slug(name: str) -> str:
    """A row's name as a folder's."""
    return name.replace(",", "").replace(" + ", "-").replace(" ", "-").lower()
