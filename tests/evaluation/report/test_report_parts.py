"""Scales, labels, highlighting, and what a report says of results."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.report.build import chart_of, report_data
from retrolex.evaluation.report.charts import cost_chart, difference_chart, interval_chart, line_chart, sparsity_chart
from retrolex.evaluation.report.data import Chart, Curve, Score, Sparsity, System
from retrolex.evaluation.report.svg import labels, log_ticks, number, round_ticks, spread
from retrolex.evaluation.report.text import escape, highlight, shorten
from retrolex.evaluation.table import Row, results


def test_round_ticks():
    assert round_ticks(0.21, 0.49, 4) == [0.2, 0.3, 0.4, 0.5]
    assert round_ticks(0, 1180) == [0, 500, 1000, 1500]
    assert len(round_ticks(3, 3)) > 1


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_round_ticks_enclose(low, width):
    ticks = round_ticks(low, low + width)
    assert ticks[0] <= low + width * 1e-6 and ticks[-1] >= low + width * (1 - 1e-6)
    assert 2 <= len(ticks) <= 12


@given(st.floats(1e-3, 1e12), st.floats(1, 1e6))
def test_log_ticks_enclose(low, ratio):
    ticks = log_ticks(low, low * ratio)
    assert ticks[0] <= low * 1.000001 and ticks[-1] >= low * ratio * 0.999999
    assert len(ticks) == len(set(ticks)) > 1 and ticks == sorted(ticks)


def test_numbers():
    assert [number(v) for v in (0, 1200, 0.25, -3.0, 2_000_000, 0.00002)] == ["0", "1,200", "0.25", "−3", "2e6", "2e−5"]
    assert labels([0.28, 0.3, 0.32]) == ["0.28", "0.30", "0.32"]


@given(st.lists(st.floats(0, 200), max_size=8))
def test_spread_keeps_the_order_and_makes_room(places):
    moved = spread(places, 10)
    order = sorted(range(len(places)), key=places.__getitem__)
    assert all(moved[b] - moved[a] > 5 for a, b in pairwise(order))
    assert spread([0, 50, 100], 10) == [0, 50, 100]


def test_highlight():
    assert highlight("Cats & cat <cat>", ["cat"]) == "<mark>Cat</mark>s &amp; <mark>cat</mark> &lt;<mark>cat</mark>&gt;"
    assert highlight("concatenate", ["cat"]) == "concatenate"
    assert highlight("running", ["##ing"]) == "running"
    assert highlight("red wine", ["Ġwine", "▁red"]) == "<mark>red</mark> <mark>wine</mark>"
    assert highlight("a.b", ["."]) == "a.b"


def test_highlight_in_scripts_without_spaces():
    assert highlight("無人機的鏡頭", ["鏡", "人機"]) == "無<mark>人機</mark>的<mark>鏡</mark>頭"
    assert highlight("用Python寫C程式", ["python", "c", "ython"]) == "用<mark>Python</mark>寫<mark>C</mark>程式"
    assert highlight("ภาษาไทย", ["▁ไทย"]) == "ภาษา<mark>ไทย</mark>"
    assert highlight("हिन्दी न", ["न"]) == "हिन्दी <mark>न</mark>"


def test_thousands_of_terms_are_marked_in_no_time():
    started = time.perf_counter()
    for first in range(50):
        assert "<mark>term7</mark>" in highlight("of term7, " * 20, [f"term{row}" for row in range(first % 3, 5000)])
    assert time.perf_counter() - started < 10


@given(st.text(), st.lists(st.text(max_size=3), max_size=3))
def test_highlight_only_adds_marks(text, terms):
    assert highlight(text, terms).replace("<mark>", "").replace("</mark>", "") == escape(text)


def test_shorten():
    assert shorten("one  two\nthree", 40) == "one two three"
    assert shorten("one two three", 9) == "one two …"
    assert shorten("x" * 50, 10) == "x" * 10 + " …"
    assert shorten("這是 很長的句子，沒有空格。" * 5, 20) == "這是 很長的句子，沒有空格。這是 很長的 …"


def test_charts_of_little():
    one = [System("a", {"RR@10": Score(0.0, 0.0, 0.0)}, 0, None)]
    assert "<circle" in interval_chart("RR@10", one, "a")
    assert cost_chart("RR@10", one * 3, lambda s: s.index_bytes, "bytes", str) == ""
    assert "<polyline" in line_chart(Chart("t", "x", "y", [Curve("c", [(1.0, 2.0)])]))
    assert line_chart(Chart("t", "x", "y", [Curve("c", [(1.0, float("nan"))])])) == ""
    assert "0 queries gain, 3 stay, 0 lose" in difference_chart([0.0, 0.0, 0.0], "RR@10")
    assert "<rect" in sparsity_chart(Sparsity([7, 7, 7]), "documents")


def test_long_curves_are_thinned_but_end_where_they_end():
    points = [(float(i), float(i % 7)) for i in range(100_000)]
    svg = line_chart(Chart("t", "x", "y", [Curve("c", points)]))
    assert len(svg) < 12_000
    assert "386.0," in svg  # the right edge


def test_chart_of_a_log():
    chart = chart_of([{"step": 1, "loss": 2}, {"step": 2}, {"loss": 9}, {"step": 3, "loss": None}], "t", {"loss": "training", "none": "none"})
    assert [(curve.name, curve.points) for curve in chart.curves] == [("training", [(1.0, 2.0)])]


def evaluation(relevant_first, n=40):
    qrels = {f"q{i}": {"d": 1} for i in range(n)}
    run = {q: [("d", 2.0), ("e", 1.0)] if relevant_first(i) else [("d", 1.0), ("e", 2.0)] for i, q in enumerate(qrels)}
    return evaluate(run, qrels, ["RR@10"]), run, qrels


def test_the_best_row_is_the_one_reported_and_its_extremes_are_shown():
    base, base_run, qrels = evaluation(lambda i: i % 8 == 0)
    best, best_run, _ = evaluation(lambda i: i % 8 != 0)
    found = results([Row("BM25", base), Row("same", base), Row("best", best)])
    data = report_data(
        found,
        "t",
        runs={"BM25": base_run, "best": best_run},
        qrels=qrels,
        queries={"q1": "why"},
        document=lambda d: (d, "text"),
    )
    assert data.system == "best" and data.headline.startswith("best beats BM25 by 67% ± ")
    assert len(data.gains) == 10 and len(data.losses) == 5
    assert all(change.after > change.before for change in data.gains) and all(change.after < change.before for change in data.losses)
    assert [hit.id for hit in data.losses[0].baseline_hits] == ["d", "e"] and [hit.grade for hit in data.losses[0].system_hits] == [None, 1]
    assert {change.query for change in data.gains} & {"why", "q2"}
    assert sum(data.differences) == pytest.approx(40 * (best.mean("RR@10") - base.mean("RR@10")))
    assert any("Judged@10" in sentence for sentence in data.policy)


def test_no_difference_is_the_headline_when_there_is_none():
    a, b = evaluation(lambda i: i % 2 == 0)[0], evaluation(lambda i: i % 2 == 1)[0]
    data = report_data(results([Row("BM25", a), Row("new", b)]), "t")
    assert data.headline == "No difference in RR@10 between new and BM25 that these 40 queries can show"
    assert "would go unseen" in data.detail
    assert data.gains == []


def test_one_row_alone():
    data = report_data(results([Row("BM25", evaluation(bool)[0])]), "t")
    assert data.headline == "BM25 reaches 0.988 RR@10"
    assert data.differences == [] and data.baseline == ""


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=60))
def test_every_count_is_in_a_bar(counts):
    chart = sparsity_chart(Sparsity(counts), "documents")
    assert chart.count('class="bar"') <= min(len(set(counts)), 24)


@pytest.mark.parametrize("most", [1, 2, 7, 19, 20, 37, 100, 1000])
def test_even_counts_have_even_bars(most):
    bars = re.findall(r'<rect class="bar"[^>]* height="([0-9.]+)"', sparsity_chart(Sparsity(list(range(most + 1))), "documents"))
    assert len(set(bars[:-1])) <= 1 and float(bars[-1]) <= float(bars[0])  # the last may stand for fewer
