"""Expected figures: reached, missed, looked up in a finished run, on other splits and on several collections; and the report written again."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
import yaml
from tests.pipeline.small import small_recipe, write_collection
from typer.testing import CliRunner

from retrolex.artifacts import read_manifest
from retrolex.cli.app import app
from retrolex.errors import UserError
from retrolex.pipeline.recipe import Expected, read_recipe
from retrolex.pipeline.reporting import rewrite_report
from retrolex.pipeline.reproduce import Verdict, differing, finished, keys_of, placed, reproduce
from retrolex.pipeline.story import open_story, table_of

BM25 = {"measure": "MRR@10", "system": "BM25", "split": "test", "value": 0.5, "tolerance": 0.5, "source": "by hand"}


@pytest.fixture(scope="module")
def place(tmp_path_factory, tiny_model_folder):
    """A folder with `data/notes`, and a recipe of a dense retriever that states figures."""
    folder = tmp_path_factory.mktemp("reproduce")
    (folder / "data").mkdir()
    write_collection(folder / "data" / "notes")
    plain = small_recipe(Path("notes"), tiny_model_folder, folder / "run", "lexicon=null", "dense.pretrain=null", "dense.guard=false").plain()
    write(folder / "recipe.yaml", plain | {"expected": [BM25, BM25 | {"split": "dev"}, BM25 | {"system": "hybrid", "measure": "nDCG@10"}]})
    return folder


def write(path: Path, recipe: dict) -> None:
    path.write_text(yaml.safe_dump(recipe), encoding="utf-8")


def verb(place: Path, *flags: str):
    arguments = ["reproduce", str(place / "recipe.yaml"), "--data", str(place / "data"), *flags]
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_runs_then_finds_the_finished_run(place):
    done = verb(place)
    assert done.exit_code == 0, done.output
    assert "3 of 3 expected figures reached" in done.output and "by hand" in done.output
    assert read_manifest(place / "run" / "splits" / "dev")["counts"] == {"queries": 3}
    before = read_manifest(place / "run" / "evaluate")
    again = verb(place)
    assert again.exit_code == 0 and "Finished run" in again.output
    assert read_manifest(place / "run" / "evaluate") == before


def test_a_run_from_before_a_key_existed_is_found_and_one_with_other_settings_is_named(place):
    verb(place)
    path = place / "run" / "recipe.json"
    stated = path.read_text(encoding="utf-8")
    recipe = placed(read_recipe(place / "recipe.yaml"), None, place / "data", None)
    older = json.loads(stated)
    del older["expected"], older["mining"], older["dense"]["kind"]
    older["dense"]["finetune"].pop("loss")
    path.write_text(json.dumps(older), encoding="utf-8")
    assert finished(recipe) and differing(recipe) == []
    older["dense"]["finetune"]["steps"] = 7
    older["collection"]["source"] = "elsewhere/others"
    path.write_text(json.dumps(older), encoding="utf-8")
    assert differing(recipe) == ["collection.source", "dense.finetune.steps"]
    path.write_text(stated, encoding="utf-8")


def test_a_missed_figure_is_exit_code_1(place):
    figures = json.dumps([BM25, BM25 | {"system": "adapted dense", "value": 1.0, "tolerance": 0.0}])
    done = verb(place, "--set", f"expected={figures}")
    assert done.exit_code == 1
    assert "missed" in done.output and "1 of 2 expected figures reached, 1 missed" in done.output


@pytest.mark.parametrize(("mean", "word"), [(0.5, "reached"), (0.48, "reached"), (0.479, "missed"), (0.52, "reached"), (0.6, "above")])
def test_verdicts(mean, word):
    from retrolex.evaluation.significance import Interval

    verdict = Verdict("notes", Expected(measure="RR@10", system="BM25", value=0.5, tolerance=0.0200001, source="x"), Interval(mean, 0, 1))
    assert verdict.word() == word and verdict.missed == (word == "missed")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"system": "adapted lexicon"}, "no system is called 'adapted lexicon'"),
        ({"split": "2019"}, "no judgments for the split '2019'"),
        ({"measure": "quality@10"}, "quality@10"),
        ({"collection": "absent"}, "no collection 'absent' here"),
    ],
)
def test_figures_about_nothing_are_refused(place, changes, words):
    with pytest.raises(UserError, match=words):
        verb(place, "--set", f"expected={json.dumps([BM25 | changes])}")


def test_without_data_and_without_figures(place):
    with pytest.raises(UserError, match="--data"):
        reproduce(place / "recipe.yaml")
    with pytest.raises(UserError, match="no expected figures"):
        reproduce(place / "recipe.yaml", place / "data", overrides=["expected=[]"])


def test_a_file_over_the_recipe(place, tmp_path):
    write(tmp_path / "over.yaml", {"dense": {"finetune": {"queries": 8, "stages": []}}, "lexicon": None})
    assert list(keys_of(tmp_path / "over.yaml")) == ["dense.finetune.queries=8", "dense.finetune.stages=[]", "lexicon=null"]
    for content in ("- a\n", "a: [\n"):
        (tmp_path / "bad.yaml").write_text(content, encoding="utf-8")
        with pytest.raises(UserError, match=r"bad\.yaml"):
            reproduce(place / "recipe.yaml", place / "data", over=tmp_path / "bad.yaml")


def test_the_report_is_written_again_through_the_same_door(place):
    verb(place)
    report = place / "run" / "report" / "report.html"
    first = report.read_bytes()
    report.write_text("spoilt", encoding="utf-8")
    done = CliRunner().invoke(app, ["report", str(place / "run")])
    assert done.exit_code == 0 and str(report) in done.output
    assert report.read_bytes() == first
    with open(report.with_name("per-query.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    story = open_story(place / "run")
    assert len(rows) == len(story.found.rows) * len(story.found.measures) * 5
    of_bm25 = [float(row["value"]) for row in rows if (row["system"], row["measure"]) == ("BM25", "RR@10")]
    assert sum(of_bm25) / 5 == pytest.approx(story.found.intervals["BM25"]["RR@10"].mean)


def test_a_finished_folder_tells_what_the_run_told(place):
    verb(place)
    story = open_story(place / "run")
    saved = json.loads((place / "run" / "evaluate" / "results.json").read_text(encoding="utf-8"))
    assert json.loads(story.found.json()) == saved
    dev = table_of(story, "dev", ["RR@10"])
    assert len(dev.rows[0].evaluation.queries) == 3 and dev.measures == ["RR@10"]


@pytest.mark.parametrize("missing", ["search", "hybrid", "evaluate"])
def test_an_unfinished_run_is_refused(place, tmp_path, missing):
    verb(place)
    shutil.copytree(place / "run", tmp_path / "run")
    (tmp_path / "run" / missing / "manifest.json").unlink()
    with pytest.raises(UserError, match="no finished run here"):
        rewrite_report(tmp_path / "run")
