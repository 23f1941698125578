"""Recipes: defaults filled in, every mistake named with its line."""

from __future__ import annotations

import pytest

from retrolex.errors import UserError
from retrolex.pipeline.recipe import make_recipe, read_recipe


def write(tmp_path, text: str):
    path = tmp_path / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_section_keeps_the_defaults_it_does_not_mention(tmp_path):
    recipe = read_recipe(write(tmp_path, "collection: {source: notes}\ndense:\n  pretrain: {steps: 7}\n"))
    default = make_recipe({"collection": {"source": "notes"}})
    assert recipe.dense.pretrain.steps == 7
    assert recipe.dense.pretrain.objective == default.dense.pretrain.objective
    assert recipe.lexicon == default.lexicon
    assert recipe.folder.as_posix() == "runs/notes"


def test_null_leaves_a_section_out(tmp_path):
    recipe = read_recipe(write(tmp_path, "collection: {source: notes}\nlexicon: null\ndense: {finetune: null}\n"))
    assert recipe.lexicon is None
    assert recipe.dense.finetune is None
    assert recipe.dense.pretrain is not None


def test_overrides_win_over_the_file(tmp_path):
    path = write(tmp_path, "collection: {source: notes}\nseed: 1\n")
    recipe = read_recipe(path, ["seed=2", "dense.pretrain.learning_rate=1.0e-4", "lexicon=null"])
    assert (recipe.seed, recipe.dense.pretrain.learning_rate, recipe.lexicon) == (2, 1e-4, None)


def test_the_seed_goes_to_every_section_that_does_not_have_its_own():
    recipe = make_recipe({"collection": {"source": "notes"}}, ["seed=7", "dense.finetune.seed=3"])
    assert (recipe.pairs.seed, recipe.mining.seed, recipe.dense.pretrain.seed, recipe.lexicon.finetune.seed) == (7, 7, 7, 7)
    assert recipe.dense.finetune.seed == 3


def test_a_written_recipe_reads_back_as_itself(tmp_path):
    recipe = make_recipe({"collection": {"source": "notes"}}, ["dense.pretrain.steps=9"])
    assert make_recipe(recipe.plain()) == recipe


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("collection: {source: x}\ndense:\n  init: minilm\n  pretrain:\n    objectve: retromae\n", 5, "objectve"),
        ("collection: {source: x}\nsed: 3\n", 2, "sed"),
        ("collection: {source: x}\nsearch:\n  depth: many\n", 3, "search.depth"),
        ("collection:\n  sauce: x\n", 2, "sauce"),
        ("collection: {source: x\nseed: 1\n", 2, "not YAML"),
        ("- a list\n", None, "expected keys and values"),
        ("collection: {source: x}\ndense: {pretrain: {objective: bert}}\n", 2, "objective"),
    ],
)
def test_mistakes_name_file_and_line(tmp_path, text, line, words):
    path = write(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_recipe(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert caught.value.mend


@pytest.mark.parametrize("item", ["seed", "=3", "a.b={"])
def test_a_malformed_override_is_refused(item):
    with pytest.raises(UserError, match="--set"):
        make_recipe({"collection": {"source": "x"}}, [item])


def test_an_override_with_an_unknown_key_points_to_the_command_line():
    with pytest.raises(UserError, match=r"--set: no recipe has the key 'dense\.foo'"):
        make_recipe({"collection": {"source": "x"}}, ["dense.foo=1"])


def test_no_such_recipe(tmp_path):
    with pytest.raises(UserError, match="no such recipe"):
        read_recipe(tmp_path / "absent.yaml")
