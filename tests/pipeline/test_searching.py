"""How a recipe fuses: as it says, the same in the run's own table and in `retrolex search`; and kinds of dense indexes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from tests.pipeline.small import small_recipe

from retrolex.artifacts import read_manifest
from retrolex.collection import Collection
from retrolex.errors import UserError
from retrolex.evaluation.runs import read_run
from retrolex.index.dense import DenseIndex
from retrolex.index.dense_kinds import LEAST
from retrolex.pipeline.checks import check
from retrolex.pipeline.recipe import Search
from retrolex.pipeline.run import run
from retrolex.pipeline.searching import chosen
from retrolex.search.searcher import Searcher

UNTRAINED = [f"{name}.{step}=null" for name in ("dense", "lexicon") for step in ("pretrain", "finetune")]
FUSIONS = get_args(Search.model_fields["fusion"].annotation)


def test_search_gives_the_order_that_was_measured_whatever_the_fusion(tmp_path: Path, collection_folder: Path, tiny_model_folder: Path):
    folder, methods = tmp_path / "run", set()
    for fusion in FUSIONS:
        run(small_recipe(collection_folder, tiny_model_folder, folder, *UNTRAINED, f"search.fusion={fusion}"))
        searcher, collection = Searcher.open(folder), Collection.open(folder / "collection")
        methods.add((searcher.hybrid.method, searcher.hybrid.normalization))
        for query, hits in read_run(folder / "hybrid" / "test.hybrid.trec").items():
            answers = searcher.search(collection.queries[query], k=20)
            assert [answer.id for answer in answers] == [id for id, _ in hits][: len(answers)], fusion
            assert [answer.score for answer in answers] == pytest.approx([score for _, score in hits][: len(answers)], abs=1e-4)
    assert {("rrf", "z"), ("rescore", "z"), ("weights", "none")} <= methods


def test_without_a_split_to_tune_on_the_normalisation_is_the_recipes():
    names = ["bm25", "dense", "lexicon"]
    untuned = {fusion: chosen(fusion, names, {}, {}, None) for fusion in FUSIONS}
    assert {fusion: hybrid.systems for fusion, hybrid in untuned.items()} == {
        "auto": ["bm25", "dense"],
        **dict.fromkeys(("rrf", "equal", "minmax", "none"), names),
        **{fusion: ["lexicon", "dense"] for fusion in ("rescore", "ensemble")},
    }
    ways = {fusion: hybrid.normalization for fusion, hybrid in untuned.items() if hybrid.method == "weights"}
    assert ways == {"auto": "z", "equal": "z", "minmax": "minmax", "none": "none", "ensemble": "none"}


@pytest.mark.parametrize("missing", ["dense", "lexicon"])
@pytest.mark.parametrize("fusion", ["rescore", "ensemble"])
def test_a_fusion_of_what_is_not_there_is_refused(tmp_path, collection_folder, tiny_model_folder, fusion, missing):
    with pytest.raises(UserError, match=f"no {missing}"):
        check(small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", f"search.fusion={fusion}", f"{missing}=null"))


def test_an_approximate_dense_index_says_its_recall(tmp_path, collection_folder, tiny_model_folder):
    place = collection_folder, tiny_model_folder, tmp_path / "run", *UNTRAINED, "lexicon=null"
    with pytest.raises(UserError, match="too few for a dense index of kind 'sq8'"):
        run(small_recipe(*place, "dense.kind=sq8"))
    assert not (tmp_path / "run" / "bm25").exists()
    rows = [json.loads(line) for line in (collection_folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    more = [{**row, "_id": f"{row['_id']}-{turn}", "text": f"{row['text']} Turn {turn}."} for turn in range(1 + LEAST // len(rows)) for row in rows]
    (collection_folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, *more]), encoding="utf-8")
    run(small_recipe(*place, "dense.kind=sq8", "pairs.count=20"))
    found = read_manifest(tmp_path / "run" / "dense" / "start-index")
    index = DenseIndex.open(tmp_path / "run" / "dense" / "start-index")  # of a random model, to which all documents look alike
    assert found["config"]["kind"] == index.kind == "sq8"
    assert 0 < float(found["counts"]["recall"]) == pytest.approx(index.recall, abs=1e-3) and index.recall <= 1


def test_kinds_are_of_dense_indexes(tmp_path, collection_folder, tiny_model_folder):
    with pytest.raises(UserError, match=r"lexicon\.kind"):
        check(small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", "lexicon.kind=pq"))
    with pytest.raises(UserError, match=r"dense\.kind"):
        small_recipe(collection_folder, tiny_model_folder, tmp_path / "run", "dense.kind=fast")
