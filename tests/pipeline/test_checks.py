"""What is refused before any work: sources, outputs, starts and figures; and nobody's files are touched by it."""

from __future__ import annotations

import pytest
from tests.pipeline.small import small_recipe

from retrolex.collection import Collection, import_collection
from retrolex.errors import UserError
from retrolex.pipeline.checks import alone, check, check_split
from retrolex.pipeline.recipe import make_recipe
from retrolex.pipeline.run import run


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("dense.pretrain.steps=-5", r"dense\.pretrain: steps is -5"),
        ("lexicon.finetune.learning_rate=0", r"lexicon\.finetune: learning_rate"),
        ("pairs.count=0", "pairs: count is 0"),
        ("pairs.positives=0", "pairs: positives is 0"),
        ("pairs.shares={song: 1}", "no kind of pseudo-query is called 'song'"),
        ("evaluate.measures=[fame]", "no measure is called 'fame'"),
        ("evaluate.measures=[]", "no measure is named"),
        ("dense.init=./absent", "no such folder"),
        ("collection.source=", r"collection\.source"),
        ("collection.source=''", "no collection is named"),
        ("collection.source=absent", "no such file or folder"),
    ],
)
def test_a_recipe_that_would_stop_half_way_is_refused_and_leaves_nothing(tmp_path, collection_folder, tiny_model_folder, override, words):
    with pytest.raises(UserError, match=words):
        run(small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", override))
    assert not (tmp_path / "run").exists()


def test_a_source_that_cannot_be_read_leaves_no_folder(tmp_path, collection_folder, tiny_model_folder):
    (collection_folder / "corpus.jsonl").write_text("not json\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"corpus\.jsonl:1"):
        run(small_recipe(collection_folder, tiny_model_folder, tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_the_output_is_nobody_elses_folder(tmp_path, collection_folder, tiny_model_folder):
    def refused(output, words):
        with pytest.raises(UserError, match=words):
            check(small_recipe(collection_folder, tiny_model_folder, output))

    (tmp_path / "file").write_text("mine", encoding="utf-8")
    refused(tmp_path / "file", "a file, where")
    refused(tmp_path, "something else than a run")  # a stage named like one of its folders would replace it
    (collection_folder / "recipe.json").write_text("{}", encoding="utf-8")
    refused(collection_folder, "inside the collection")
    refused(collection_folder / "run", "inside the collection")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "recipe.json.tmp").write_text("{", encoding="utf-8")  # killed while it wrote its first file
    check(small_recipe(collection_folder, tiny_model_folder, tmp_path / "empty"))


def test_a_folder_that_cannot_be_made_and_one_that_is_in_use(tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be made"), alone(tmp_path / "file" / "run"):
        pass
    with alone(tmp_path / "run"), pytest.raises(UserError, match="another run is at work"), alone(tmp_path / "run"):
        pass
    with alone(tmp_path / "run"):  # given back
        pass


@pytest.mark.parametrize(
    ("judgment", "words"),
    [("absent\td0\t1", "has a text"), ("q0\td0\t0", "relevant document"), ("q0\tabsent\t1", "relevant document"), ("q0\td0\t1", None)],
)
def test_a_split_that_measures_nothing_is_refused(tmp_path, collection_folder, judgment, words):
    (collection_folder / "qrels" / "test.tsv").write_text(judgment + "\n", encoding="utf-8")
    (tmp_path / "collection").mkdir()
    import_collection(collection_folder, tmp_path / "collection")
    collection = Collection.open(tmp_path / "collection")
    if words is None:
        check_split(collection, "test")
    else:
        with pytest.raises(UserError, match=words):
            check_split(collection, "test")


def test_bm25_needs_figures_it_can_count_with():
    for override in ("bm25.k1=.nan", "bm25.k1=-1", "bm25.b=2"):
        with pytest.raises(UserError, match=override.split("=")[0]):
            make_recipe({"collection": {"source": "notes"}}, [override])
