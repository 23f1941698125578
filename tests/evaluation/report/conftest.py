"""A report with every section, made from a small run, for the tests of the page."""

from __future__ import annotations

import math

import numpy as np
import pytest

from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.report.build import chart_of, report_data
from retrolex.evaluation.report.data import ReportData, Sparsity
from retrolex.evaluation.table import Row, results


def make_report(name: str = "hybrid", text: str = "the cat sat on the mat") -> ReportData:
    """Forty queries; `name` is the system's name and `text` the text of every document and query."""
    rng = np.random.default_rng(0)
    documents = [f"d{i}" for i in range(30)]
    qrels = {f"q{i}": {"d0": 2, "d1": 0} for i in range(40)}

    def run(boost: float) -> dict[str, list[tuple[str, float]]]:
        return {query: [(d, float(rng.normal() + boost * (d == "d0"))) for d in documents] for query in qrels}

    runs = {"BM25": run(1.0), name: run(3.0)}
    rows = [Row(system, evaluate(r, qrels), size, ms) for (system, r), size, ms in zip(runs.items(), (900_000, 3_000_000), (0.3, 2.0), strict=True)]
    data = report_data(
        results(rows),
        text,
        runs=runs,
        qrels=qrels,
        queries=dict.fromkeys(qrels, text),
        document=lambda d: (text, text),
        terms=lambda q, d: [("cat", 1.5), ("##s", 0.5), (text, 0.1)],
    )
    log = [{"step": i, "loss": 5 / (i + 1), "eval_loss": 6 / (i + 1) if i % 2 else None} for i in range(1000)]
    log += [{"step": 1000, "loss": math.nan}, {"epoch": 1}]
    data.charts = [chart_of(log, text, {"loss": text, "eval_loss": "held out", "absent": "absent"}, y_label="loss", note=text)]
    data.sparsity = Sparsity([10, 20, 20, 35], [3, 4], 30522)
    data.facts = {"Documents": "30", text: text}
    data.configuration, data.commands = f"text: {text}\n", ["retrolex run recipe.yaml", text]
    return data


@pytest.fixture(scope="session")
def whole():
    """A function that makes a report with every section, of whatever text."""
    return make_report
