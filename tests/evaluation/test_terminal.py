"""Tables in terminals of any width: whole, and names are text."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.table import Row, results
from retrolex.evaluation.terminal import stacked

QRELS = {f"q{i}": {"d": 1, "e": 1} for i in range(30)}


def made_up(step):
    return {query: [("e", 2.0), ("d", 1.0)][i % step :] for i, query in enumerate(QRELS)}


def printed(found, width):
    console = Console(width=width, file=io.StringIO())
    console.print(found.rich(), found.rich_differences())
    return console.file.getvalue()


@pytest.mark.parametrize("width", [40, 80, 120, 300])
@pytest.mark.parametrize("measures", [["nDCG@10"], ["nDCG@10", "RR@10", "R@100"], ["nDCG@10", "RR", "AP", "P@10", "R@1000", "Success@100"]])
def test_every_figure_is_shown_whole(width, measures):
    found = results([Row(f"system {step}", evaluate(made_up(step), QRELS, measures), 10, 1.0) for step in (1, 2)])
    text = printed(found, width)
    assert "…" not in text and max(map(len, text.splitlines())) <= width
    words = text.split()
    for line in (*found.cells(), *found.differences()):
        assert width < 80 or all(word in words for cell in line for word in cell.split() if word != "Against")


def test_three_systems_and_measures_fit_80_columns_without_a_broken_interval():
    found = results([Row(f"system {step}", evaluate(made_up(step), QRELS)) for step in (1, 2)])
    text = printed(found, 80)
    for cell in (cell for line in found.cells()[1:] + [row[:3] for row in found.differences()[1:]] for cell in line if "[" in cell):
        assert all(part in text for part in stacked(cell).split("\n"))


def test_names_are_text_and_not_markup():
    found = results([Row(name, evaluate(made_up(step), QRELS)) for step, name in enumerate(("[red]bm25", "mine[/nope]"), 1)])
    for width in (60, 200):
        assert "[red]" in printed(found, width) and "[/nope]" in printed(found, width)


def test_stacked():
    assert stacked("0.407 [0.371, 0.442] ▲") == "0.407 ▲\n[0.371, 0.442]"
    assert stacked("+0.034 [+0.005, +0.063]") == "+0.034\n[+0.005, +0.063]"
    assert stacked("891 kB") == "891 kB" and stacked("odd [name") == "odd [name"
