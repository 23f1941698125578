"""The recipes that come with retrolex: all are well-formed, state where their figures come from, and go through every stage on a miniature."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests.pipeline.miniature import write_beir, write_documents, write_passages
from tests.pipeline.small import write_cross_encoder

from retrolex.artifacts import read_manifest
from retrolex.pipeline.recipe import read_recipe
from retrolex.pipeline.reproduce import keys_of, reproduce

RECIPES = Path(__file__).parents[2] / "recipes"
OVERLAYS = sorted((RECIPES / "one-gpu").glob("*.yaml"))
WHOLE = sorted(set(RECIPES.rglob("*.yaml")) - set(OVERLAYS))
LABELLED = sorted((RECIPES / "labelled").glob("*.yaml"))  # for two cores, and measured by benchmarks/stages.py
SECTIONS = {"retromae": "dense", "dupmae": "dupmae", "lexmae": "lexicon"}
STAGES = {"retromae": 2, "dupmae": 2, "lexmae": 3}


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.relative_to(RECIPES).as_posix())
def test_well_formed_and_every_figure_has_a_source(path):
    recipe = read_recipe(path)
    assert all(figure.source for figure in recipe.expected)
    systems = {"BM25", "hybrid"} | {f"{stage} {name}" for name in recipe.models for stage in ("start", "adapted")}
    assert {figure.system for figure in recipe.expected} <= systems
    assert len({(f.collection, f.split, f.system, f.measure) for f in recipe.expected}) == len(recipe.expected)
    assert path.name in ("demo.yaml", "retromae-training.yaml") or path in LABELLED or recipe.expected


def beneath(overlay: Path) -> Path:
    """The recipe that a one-GPU variant is for."""
    folder, _, name = overlay.name.partition("-")
    return RECIPES / {"document": "msmarco-document", "beir": "beir"}.get(folder, "msmarco-passage") / (name or overlay.name)


@pytest.mark.parametrize("path", OVERLAYS, ids=lambda path: path.stem)
def test_one_gpu_has_the_batches_of_eight(path):
    eight, one = read_recipe(beneath(path)), read_recipe(beneath(path), list(keys_of(path)))
    few, many = next(iter(one.models.values())), next(iter(eight.models.values()))
    if many.pretrain:
        assert few.pretrain.accumulate * few.pretrain.tokens_per_batch == 8 * many.pretrain.tokens_per_batch
    for a, b in zip(few.finetune.stages, many.finetune.stages, strict=True):
        assert a.queries == (b.queries if path.name == "lexmae.yaml" else 8 * b.queries)  # LexMAE's on passages were on one GPU to begin with
        same = ("hard", "epochs", "learning_rate", "negatives", "teacher", "loss", "depth", "flops")
        assert [getattr(a, key) for key in same] == [getattr(b, key) for key in same]
    assert one.expected == eight.expected


def test_every_recipe_that_trains_has_a_one_gpu_variant():
    small = {RECIPES, RECIPES / "labelled"}
    trained = {path for path in WHOLE if path.parent not in small and any(m.finetune for m in read_recipe(path).models.values())}
    assert {beneath(path) for path in OVERLAYS} == trained


def test_beir_has_13_collections_and_lexmae_12_of_them():
    sets = {name: {figure.collection for figure in read_recipe(RECIPES / "beir" / f"{name}.yaml").expected} for name in SECTIONS}
    assert len(sets["retromae"]) == 13 and sets["dupmae"] == sets["retromae"]
    assert sets["lexmae"] == sets["retromae"] - {"beir/quora"}


@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.stem)
def test_labelled_recipes_have_the_papers_three_stages_and_one_budget(path):
    for name, model in read_recipe(path).models.items():
        stages = model.finetune.stages
        assert [(stage.negatives, stage.loss, stage.depth) for stage in stages] == [
            ("bm25", "contrastive", 1000), (name, "contrastive", 200), (name, "distill", 200)
        ]  # fmt: skip
        assert len({(stage.steps, stage.queries, stage.hard, stage.learning_rate) for stage in stages}) == 1
        assert [stage.flops for stage in stages] == [0.002, 0.008, 0.008] and not model.guard


@pytest.fixture(scope="module")
def place(tmp_path_factory, tiny_model_folder):
    """A folder with the data in miniature and a teacher where the recipes expect it."""
    folder = tmp_path_factory.mktemp("place")
    write_passages(folder / "data" / "msmarco-passage")
    write_documents(folder / "data" / "msmarco-document")
    write_beir(folder / "data" / "beir", ["scifact", "arguana"])
    write_cross_encoder(tiny_model_folder, folder / "runs" / "msmarco-teacher")
    return folder


def short(section: str, init: Path, recipe: Path) -> list[str]:
    """Overrides that leave every stage of a recipe in place and make each a few tiny steps."""
    stated = yaml.safe_load(recipe.read_text(encoding="utf-8"))[section]
    changes = {"init": str(init), "document_length": 48, "query_length": 24}
    if stated["pretrain"]:
        changes |= {"pretrain.steps": 2, "pretrain.tokens_per_batch": 256, "pretrain.save_every": 2}
    if stated["finetune"]:
        stages = [{**stage, "queries": 4, "hard": 2, "steps": 2, "save_every": 2} for stage in stated["finetune"]["stages"]]
        changes |= {"finetune.stages": stages}
    return [f"{section}.{key}={json.dumps(value)}" for key, value in changes.items()] + ["search.depth=20"]


@pytest.mark.parametrize("name", SECTIONS)
def test_passages_every_stage(name, place, tiny_model_folder, monkeypatch):
    monkeypatch.chdir(place)
    recipe, section = RECIPES / "msmarco-passage" / f"{name}.yaml", SECTIONS[name]
    found = reproduce(recipe, Path("data"), None, short(section, tiny_model_folder, recipe))
    run = place / "runs" / f"msmarco-passage-{name}"
    stages = [f"{section}/{part}-{i}" for part in ("negatives", "finetune") for i in range(1, STAGES[name] + 1)]
    for stage in ("collection", "bm25", "pairs", f"{section}/pretrain", *stages, f"{section}/vectors", f"{section}/index", "search", "evaluate"):
        assert read_manifest(run / stage), stage
    assert read_manifest(run / "pairs")["counts"]["train"] > 0
    assert {verdict.expected.split for verdict in found} == {"dev.small", "2019", "2020"}
    assert all(0 <= verdict.measured.low <= verdict.measured.mean <= verdict.measured.high <= 1 for verdict in found)
    assert read_manifest(run / "splits" / "2019")["counts"] == {"queries": 4}
    assert (run / "report" / "report.html").exists()

    beir = RECIPES / "beir" / f"{name}.yaml"
    figures = [figure.model_dump() for figure in read_recipe(beir).expected if figure.collection in ("beir/scifact", "beir/arguana")]
    overrides = [*short(section, run / section / f"finetune-{STAGES[name]}", beir), f"expected={json.dumps(figures)}"]
    found = reproduce(beir, Path("data"), None, overrides)
    assert [verdict.collection for verdict in found] == ["arguana", "scifact"]
    assert read_manifest(place / "runs" / f"beir-{name}" / "beir" / "scifact" / "evaluate")["config"]["self_hits"] == "remove"


@pytest.mark.parametrize("name", SECTIONS)
def test_documents_every_stage(name, place, tiny_model_folder, monkeypatch):
    monkeypatch.chdir(place)
    recipe, section = RECIPES / "msmarco-document" / f"{name}.yaml", SECTIONS[name]
    found = reproduce(recipe, Path("data"), None, short(section, tiny_model_folder, recipe))
    assert {verdict.expected.split for verdict in found} == ({"dev"} if name == "lexmae" else {"dev", "2019"})
    assert read_manifest(place / "runs" / f"msmarco-document-{name}" / section / f"finetune-{STAGES[name]}")
