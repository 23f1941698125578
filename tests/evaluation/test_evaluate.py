"""Values worked out by hand, the policy, and equality with trec_eval itself."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.errors import UserError
from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.policy import Policy
from retrolex.evaluation.ranking import order

LOG3 = math.log2(3)


def value(run, qrels, measure, policy=None):
    return evaluate(run, qrels, [measure], policy).mean(measure)


def test_graded_values_by_hand():
    run = {"q": [("a", 3.0), ("b", 2.0), ("c", 1.0)]}
    qrels = {"q": {"a": 1, "c": 3, "d": 2}}
    ideal = 3 + 2 / LOG3 + 1 / 2
    assert value(run, qrels, "nDCG@10") == pytest.approx((1 + 3 / 2) / ideal)
    assert value(run, qrels, "nDCG@2") == pytest.approx(1 / (3 + 2 / LOG3))
    assert value(run, qrels, "RR@10") == 1
    assert value(run, qrels, "RR(rel=2)@10") == pytest.approx(1 / 3)
    assert value(run, qrels, "RR(rel=2)@2") == 0
    assert value(run, qrels, "R@3") == pytest.approx(2 / 3)
    assert value(run, qrels, "R(rel=2)@3") == pytest.approx(1 / 2)
    assert value(run, qrels, "Success@1") == 1
    assert value(run, qrels, "AP") == pytest.approx((1 + 2 / 3) / 3)
    assert value(run, qrels, "P@10") == pytest.approx(0.2)


def test_ndcg_does_not_depend_on_the_levels_of_other_measures():
    run, qrels = {"q": [("a", 2.0), ("b", 1.0)]}, {"q": {"a": 1, "b": 2}}
    alone = evaluate(run, qrels, ["nDCG@10"]).mean("nDCG@10")
    assert evaluate(run, qrels, ["RR(rel=2)@10", "AP(rel=2)", "P(rel=2)@5", "nDCG@10"]).mean("nDCG@10") == alone


def test_recall_and_success_are_two_things():
    run, qrels = {"q": [("a", 1.0)]}, {"q": {"a": 1, "b": 1, "c": 1, "d": 1}}
    assert value(run, qrels, "R@100") == 0.25
    assert value(run, qrels, "Success@100") == 1


def test_negative_grades_count_as_zero():
    run = {"q": [("spam", 3.0), ("a", 2.0)]}
    qrels = {"q": {"spam": -2, "a": 1}}
    assert value(run, qrels, "nDCG@10") == pytest.approx(1 / LOG3)
    assert value(run, qrels, "RR@10") == 0.5
    assert evaluate(run, qrels).judged == 1


def test_a_missing_query_counts_zero():
    found = evaluate({"q1": [("d", 1.0)]}, {"q1": {"d": 1}, "q2": {"e": 1}})
    assert found.mean("nDCG@10") == 0.5
    assert found.counts.missing == 1
    assert found.queries == ["q1", "q2"]
    assert found.values["RR@10"].tolist() == [1, 0]


def test_queries_without_a_relevant_document_are_excluded_and_counted():
    found = evaluate({"q1": [("d", 1.0)], "q2": [("d", 1.0)], "q9": [("d", 1.0)]}, {"q0": {}, "q1": {"d": 1}, "q2": {"d": 0}})
    assert found.queries == ["q1"]
    assert (found.counts.without_relevant, found.counts.unjudged) == (2, 1)
    assert "Queries without a relevant document, excluded: 2." in found.describe()


def test_an_empty_run_is_all_zero():
    found = evaluate({}, {"q1": {"d": 1}, "q2": {"d": 1}}, ["nDCG@10", "RR@10", "R@100", "Success@5", "AP", "Judged@10"])
    assert all(values.tolist() == [0, 0] for values in found.values.values())
    assert (found.counts.missing, found.judged) == (2, 0)


def test_scores_beyond_single_precision_are_tied_without_a_warning(recwarn):
    assert evaluate({"q": [("a", 2e39), ("b", 1e39)]}, {"q": {"b": 1}}, ["RR"]).mean("RR") == 1
    assert not recwarn.list


def test_judgments_without_anything_relevant_are_refused():
    for qrels in ({}, {"q": {}}, {"q": {"d": 0, "e": -1}}):
        with pytest.raises(UserError, match="nothing to average"):
            evaluate({"q": [("d", 1.0)]}, qrels)


def test_zero_scores_kept_or_dropped():
    run, qrels = {"q": [("x", 0.0), ("a", -1.0)]}, {"q": {"x": 1, "a": 1}}
    assert value(run, qrels, "R@10") == 1
    dropped = evaluate(run, qrels, ["R@10"], Policy(zero_scores="drop"))
    assert dropped.mean("R@10") == 0.5  # a negative score is a score
    assert dropped.counts.zero_scores_dropped == 1


def test_self_hits_kept_or_removed():
    run, qrels = {"q": [("q", 9.0), ("a", 1.0)]}, {"q": {"a": 1}}
    assert value(run, qrels, "RR@10") == 0.5
    removed = evaluate(run, qrels, ["RR@10"], Policy(self_hits="remove"))
    assert removed.mean("RR@10") == 1
    assert removed.counts.self_hits_removed == 1


def test_a_self_hit_judged_relevant_stays():
    assert value({"5": [("5", 2.0), ("6", 1.0)]}, {"5": {"5": 1}}, "RR@10", Policy(self_hits="remove")) == 1


def test_depth():
    run, qrels = {"q": [("x", 3.0), ("y", 2.0), ("a", 1.0)]}, {"q": {"a": 1}}
    assert value(run, qrels, "RR@10", Policy(depth=2)) == 0


def test_numeric_ids_of_either_type():
    for run, qrels in (
        ({1: [(2, 1.0)]}, {"1": {"2": 1}}),
        ({"1": [("2", 1.0)]}, {1: {2: 1}}),
        ({"1": {"2": np.float32(1)}}, {"1": {"2": np.int64(1)}}),
    ):
        assert value(run, qrels, "nDCG@10") == 1


def test_judged_share():
    run = {"q": [(f"d{i}", 20.0 - i) for i in range(20)], "r": [("e", 1.0), ("f", 0.5)]}
    found = evaluate(run, {"q": {"d0": 1, "d3": 0, "d15": 1}, "r": {"e": 1}}, ["Judged@10"])
    assert found.judged == pytest.approx((0.2 + 0.5) / 2) == found.mean("Judged@10")


def test_the_callers_objects_stay_as_they_were():
    run, qrels = {"q": [("a", 0.0), ("q", 3.0), ("b", 3.0)]}, {"q": {"a": 1, "b": -1}, "r": {}}
    before = copy.deepcopy((run, qrels))
    first = evaluate(run, qrels, policy=Policy("drop", "remove", 1))
    assert (run, qrels) == before
    assert evaluate(run, qrels, policy=Policy("drop", "remove", 1)).mean("nDCG@10") == first.mean("nDCG@10")


@pytest.mark.parametrize(("hits", "complaint"), [([("a", 1.0), ("a", 2.0)], "'a' twice"), ([("a", float("nan"))], "NaN")])
def test_hits_that_have_no_rank_are_refused(hits, complaint):
    with pytest.raises(UserError, match=complaint):
        evaluate({"q": hits}, {"q": {"a": 1}})


def test_a_missing_query_can_be_excluded_instead():
    run, qrels = {"q1": [("d", 1.0)], "q3": []}, {"q1": {"d": 1}, "q2": {"e": 1}, "q3": {"f": 1}}
    found = evaluate(run, qrels, ["nDCG@10"], Policy(missing="exclude"))
    assert (found.queries, found.mean("nDCG@10"), found.counts.unanswered, found.counts.missing) == (["q1"], 1.0, 2, 0)
    assert "Queries without a hit, excluded: 2." in found.describe()
    with pytest.raises(UserError, match="no hit for any query"):
        evaluate({}, qrels, policy=Policy(missing="exclude"))


def test_a_query_left_empty_by_dropping_is_missing_too():
    run, qrels = {"q1": [("d", 1.0)], "q2": [("e", 0.0)]}, {"q1": {"d": 1}, "q2": {"e": 1}}
    assert evaluate(run, qrels, ["RR"], Policy(zero_scores="drop")).counts.missing == 1
    assert evaluate(run, qrels, ["RR"], Policy(zero_scores="drop", missing="exclude")).queries == ["q1"]


@pytest.mark.parametrize(("ties", "expected"), [("descending", 1 / 2), ("ascending", 1 / 4), ("run", 1 / 3)])
def test_ties_by_hand(ties, expected):
    run = {"q": [("9", 2.0), ("8", 1.0), ("85", 1.0), ("1", 1.0)]}  # ids are texts: "85" > "8" > "1"
    assert value(run, {"q": {"85": 1}}, "RR@10", Policy(ties=ties)) == expected


def test_ties_are_broken_alike_for_every_measure():
    run, qrels = {"q": [("a", 1.0), ("b", 1.0)]}, {"q": {"a": 1}}
    for ties, at_one in (("descending", 0.0), ("ascending", 1.0), ("run", 1.0)):
        found = evaluate(run, qrels, ["nDCG@1", "RR@1", "P@1", "R@1", "Success@1", "AP@1"], Policy(ties=ties))
        assert {values[0] for values in found.values.values()} == {at_one}


def test_the_relevance_level_is_for_measures_that_do_not_state_their_own():
    run = {"q": [("a", 3.0), ("b", 2.0), ("c", 1.0)]}
    qrels = {"q": {"a": 1, "b": 2, "c": 3}}
    found = evaluate(run, qrels, ["RR@10", "RR(rel=3)@10", "R@2", "nDCG@10", "P@3"], Policy(relevance=2))
    assert found.measures == ["RR(rel=2)@10", "RR(rel=3)@10", "R(rel=2)@2", "nDCG@10", "P(rel=2)@3"]
    assert [v[0] for v in found.values.values()][:3] == pytest.approx([1 / 2, 1 / 3, 1 / 2])
    assert found.mean("nDCG@10") == value(run, qrels, "nDCG@10")
    assert "grade of at least 2" in " ".join(found.describe())


def test_the_level_does_not_change_which_queries_are_measured():
    found = evaluate({"q": [("a", 1.0)], "r": [("b", 1.0)]}, {"q": {"a": 1}, "r": {"b": 2}}, ["RR"], Policy(relevance=2))
    assert found.queries == ["q", "r"] and found.mean("RR(rel=2)") == 0.5


@pytest.mark.parametrize("wrong", [{"zero_scores": "none"}, {"self_hits": "drop"}, {"depth": 0}, {"missing": "0"}, {"ties": "id"}, {"relevance": 0}])
def test_a_policy_that_is_none_is_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        Policy(**wrong)


def test_describe_states_the_policy():
    said = " ".join(evaluate({"q": [("a", 1.0)]}, {"q": {"a": 1}}, policy=Policy("drop", "remove", 100)).describe())
    for part in ("dropped", "removed, unless judged relevant", "first 100 hits", "document id", "count 0", "Queries measured: 1.", "Judged@10"):
        assert part in said


ids = st.text("abcé7", min_size=1, max_size=3)
scores = st.one_of(st.sampled_from([0.0, 1.0, 1.00000001, -2.0]), st.floats(-100, 100, width=32))
runs = st.dictionaries(ids, st.dictionaries(ids, scores, max_size=12), max_size=5)
judgments = st.dictionaries(ids, st.dictionaries(ids, st.integers(0, 3), max_size=8), max_size=5)


@given(st.lists(st.tuples(ids, scores), unique_by=lambda hit: hit[0]))
def test_order_equals_the_obvious_sort(hits):
    documents, values = [d for d, _ in hits], np.array([s for _, s in hits], dtype=np.float32)
    expected = [d for d, _ in sorted(zip(documents, values, strict=True), key=lambda hit: (hit[1], hit[0]), reverse=True)]
    assert order(documents, values) == (expected, len(set(values.tolist())) < len(values))


@settings(max_examples=150, deadline=None)
@given(runs, judgments, st.randoms())
def test_equals_trec_eval_ties_and_all_in_any_input_order(run, qrels, random):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels = {query: judged for query, judged in qrels.items() if any(grade >= 1 for grade in judged.values())}
    if not qrels:
        return
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut", "recip_rank", "recall", "map", "P", "success"}).evaluate(
        {q: h for q, h in run.items() if h}
    )
    shuffled = {query: random.sample(list(hits.items()), len(hits)) for query, hits in random.sample(list(run.items()), len(run))}
    names = {
        "nDCG@10": "ndcg_cut_10",
        "nDCG@5": "ndcg_cut_5",
        "RR": "recip_rank",
        "R@5": "recall_5",
        "AP": "map",
        "P@5": "P_5",
        "Success@5": "success_5",
    }
    ours = evaluate(shuffled, qrels, [*names, "RR@10", "RR@2"])
    for ours_name, name in names.items():
        expected = [theirs.get(query, {}).get(name, 0.0) for query in ours.queries]
        np.testing.assert_allclose(ours.values[ours_name], expected, atol=1e-12)
    whole = ours.values["RR"]
    np.testing.assert_allclose(ours.values["RR@2"], np.where(whole >= 0.5, whole, 0))  # RR@k is RR where its rank is within k
    np.testing.assert_allclose(ours.values["RR@10"], np.where(whole >= 0.1 - 1e-9, whole, 0))
