"""Names: the grammar, the aliases of other tools, and what is refused."""

from __future__ import annotations

import pytest

from retrolex.errors import UserError
from retrolex.evaluation.measures import canonical, parse_measures, split_names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nDCG@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("ndcg_at_10", "nDCG@10"),
        ("eval_NanoBEIR_mean_cosine_ndcg@10", "nDCG@10"),
        ("ndcg", "nDCG"),
        ("MRR@10", "RR@10"),
        ("mrr_at_10", "RR@10"),
        ("recip_rank", "RR"),
        ("RR(rel=2)@10", "RR(rel=2)@10"),
        ("MRR(rel=2)@10", "RR(rel=2)@10"),
        ("recall_100", "R@100"),
        ("recall.100", "R@100"),
        ("Recall@100", "R@100"),
        ("dot_recall@100", "R@100"),
        ("R@100", "R@100"),
        ("Success@100", "Success@100"),
        ("success_5", "Success@5"),
        ("cosine_accuracy@5", "Success@5"),
        ("hit_rate@5", "Success@5"),
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("MAP@100", "AP@100"),
        ("AP(rel=2)", "AP(rel=2)"),
        ("P_5", "P@5"),
        ("precision_at_5", "P@5"),
        ("Judged@10", "Judged@10"),
        ("IPrec@0.1", "IPrec@0.1"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("nDCG(gains={0: 0, 1: 1, 2: 3})@10", "nDCG(gains={2:3})@10"),
    ],
)
def test_spellings(name, expected):
    assert canonical(name) == expected


@pytest.mark.parametrize(
    "name",
    ["", "@10", "quality@10", "R", "R@0", "nDCG(rel=2)@10", "RR(2)@10", "RR(rel=two)@10", "NumRet", "RR@10; RR@5", "RR(@10", "nDCG@10.5", "Rprec@10"],
)
def test_refused(name):
    with pytest.raises(UserError) as refusal:
        canonical(name)
    assert repr(name) in str(refusal.value)


def test_two_spellings_of_one_measure_are_one_column():
    assert [repr(m) for m in parse_measures(["MRR@10", "nDCG@10", "RR@10"])] == ["RR@10", "nDCG@10"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nDCG@10 RR@10", ["nDCG@10", "RR@10"]),
        (" nDCG@10,RR@10,  R@100, ", ["nDCG@10", "RR@10", "R@100"]),
        ("nDCG(gains={0: 0, 1: 1}, dcg='log2')@10 AP", ["nDCG(gains={0: 0, 1: 1}, dcg='log2')@10", "AP"]),
        ("RR(@10 AP", ["RR(@10", "AP"]),
        (" ", []),
    ],
)
def test_names_in_one_string(text, names):
    assert split_names(text) == names
