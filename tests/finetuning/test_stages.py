"""What the papers do where a recipe says nothing."""

from __future__ import annotations

from retrolex.finetuning.stages import papers, spelled_out
from retrolex.pipeline.recipe import make_recipe


def stages(name: str, section: dict) -> list:
    return make_recipe({"collection": {"source": "x"}, name: {"init": "minilm", "finetune": section}}).models[name].finetune.stages


def test_the_papers_three_stages() -> None:
    first, second, third = stages("lexicon", {"stages": ["bm25", "lexicon", {"teacher": "t"}]})
    assert (first.negatives, second.negatives, third.negatives) == ("bm25", "lexicon", "lexicon")
    assert (first.depth, second.depth, third.depth) == (1000, 200, 200)
    assert [(stage.queries, stage.hard) for stage in (first, second, third)] == [(24, 15), (24, 15), (16, 23)]
    assert [stage.flops for stage in (first, second, third)] == [0.002, 0.008, 0.008]
    for stage in (first, second, third):
        assert (stage.query_flops, stage.learning_rate, stage.epochs, stage.seed) == (0.75, 2e-5, 3, 42)
    assert (first.loss, second.loss, third.loss, third.contrastive) == ("contrastive", "contrastive", "distill", 0.2)


def test_a_teacher_that_only_filters_leaves_the_stage_as_it_is() -> None:
    plain, filtered = stages("lexicon", {"stages": ["bm25", {"negatives": "bm25", "teacher": "t", "loss": "contrastive", "teacher_margin": 3}]})
    assert (filtered.loss, filtered.queries, filtered.hard, filtered.depth) == (plain.loss, plain.queries, plain.hard, plain.depth)
    assert filtered.teacher_margin == 3 and plain.teacher_margin is None


def test_a_stage_wins_over_its_section_and_both_over_the_papers() -> None:
    one, two = stages("dense", {"hard": 3, "queries": 5, "stages": [{"hard": 4}, {}]})
    assert (one.hard, two.hard, one.queries, two.queries, two.epochs) == (4, 3, 5, 5, 3)


def test_lengths_are_the_papers_unless_given() -> None:
    def lengths(**given: int) -> tuple:
        model = make_recipe({"collection": {"source": "x"}, "dense": {"finetune": {"stages": ["bm25"]}, **given}}).dense
        return model.document_length, model.query_length

    assert lengths() == (144, 32) and lengths(document_length=99) == (99, 32)


def test_without_stages_nothing_changes_and_with_them_a_recipe_reads_back_as_itself() -> None:
    plain = make_recipe({"collection": {"source": "x"}})
    assert plain.dense.finetune.stages == () and plain.dense.finetune.steps == 20
    recipe = make_recipe({"collection": {"source": "x"}}, ["dense.finetune.stages=[bm25, {negatives: dense, lora: 4}]", "seed=3"])
    assert make_recipe(recipe.plain()) == recipe
    assert [stage.seed for stage in recipe.dense.finetune.stages] == [3, 3]


def test_spelled_out_is_plain() -> None:
    section = spelled_out({"steps": 2, "stages": [{}, "dense"]}, "dense", 1)
    assert section["stages"][0] == {**papers(0, {}, "dense"), "seed": 1, "steps": 2}
    assert section["stages"][1]["negatives"] == "dense" and section["steps"] == 2
