"""From results to a report: the answer, the rows, and the queries that changed most with their documents side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from retrolex.evaluation.comparison import Difference, p_text
from retrolex.evaluation.ranking import apply_policy
from retrolex.evaluation.report.data import Change, Chart, Curve, Hit, ReportData, Score, System
from retrolex.evaluation.significance import RESAMPLES

if TYPE_CHECKING:
    from retrolex.collection.documents import Qrels
    from retrolex.evaluation.table import Results
    from retrolex.index.base import Run

CHANGES = 10  # gains, and losses, shown
HITS = 5  # documents shown of each system
UNCERTAINTY = (
    f"Intervals are 95% bootstrap percentile intervals: {RESAMPLES:,} resamples of the queries, the same ones for every system, from a fixed seed.",
    "A difference counts when the paired randomisation test, Holm-corrected over all comparisons, gives p < 0.05 and its interval leaves out 0.",
)
NO_BREAK = "\N{NO-BREAK SPACE}"


def report_data(
    found: Results,
    title: str,
    *,
    system: str | None = None,
    runs: dict[str, Run] | None = None,
    qrels: Qrels | None = None,
    queries: dict[str, str] | None = None,
    document: Callable[[str], tuple[str, str]] | None = None,
    terms: Callable[[str, str], list[tuple[str, float]]] | None = None,
) -> ReportData:
    """Fill in everything that follows from results; the caller adds facts, charts, sparsity, configuration and commands.

    Args:
        found: rows and their comparison.
        title: name of the collection.
        system: the row the report is about; the best other than the baseline by the first measure when None.
        runs: system -> run; with `qrels`, `queries` and `document` they give the largest gains and losses.
        document: id -> (title, text).
        terms: (query id, document id) -> the terms both have and what each adds to the score, largest first.
    """
    measure = found.measures[0]
    systems = [
        System(
            row.name,
            {m: Score(*found.intervals[row.name][m], standing=found.standing(row.name, m)) for m in found.measures},
            row.index_bytes,
            row.ms_per_query,
        )
        for row in found.rows
    ]
    first = found.rows[0]
    data = ReportData(title, "", "", found.measures, systems, policy=[*UNCERTAINTY, *first.evaluation.policy.describe(), *found.counted()])
    if found.comparison is None:
        score = found.intervals[first.name][measure]
        data.headline = f"{first.name} reaches {score.mean:.3f} {measure}"
        data.detail = (
            f"95% interval {score.low:.3f} to {score.high:.3f}, over {first.evaluation.counts.queries:,} queries. Nothing to compare it with."
        )
        return data
    data.baseline, data.tests = found.comparison.baseline, found.differences()
    others = [row.name for row in found.rows if row.name != data.baseline]
    data.system = system or max(others, key=lambda name: found.intervals[name][measure].mean)
    difference = found.comparison.of(data.system, measure)
    data.headline, data.detail = difference.headline(), _detail(difference, len(found.comparison.differences))
    evaluations = {row.name: row.evaluation for row in found.rows}
    before, after = (evaluations[name].values[measure] for name in (data.baseline, data.system))
    data.differences = (after - before).round(12).tolist()
    if runs and qrels is not None and queries is not None and document is not None:
        ranking = {name: apply_policy(runs[name], qrels, evaluations[name].policy)[0] for name in (data.baseline, data.system)}

        def hits(name: str, query: str) -> list[Hit]:
            return [Hit(d, *document(d), grade=qrels[query].get(d), terms=terms(query, d) if terms else []) for d in ranking[name][query][:HITS]]

        def changes(positions: list[int]) -> list[Change]:
            ids = [first.evaluation.queries[i] for i in positions]
            values = [(float(before[i]), float(after[i])) for i in positions]
            return [
                Change(query, queries.get(query, query), *value, hits(data.baseline, query), hits(data.system, query))
                for query, value in zip(ids, values, strict=True)
            ]

        order = sorted(range(len(data.differences)), key=data.differences.__getitem__)
        data.losses = changes([i for i in order[:CHANGES] if data.differences[i] < 0])
        order.sort(key=lambda i: -data.differences[i])
        data.gains = changes([i for i in order[:CHANGES] if data.differences[i] > 0])
    return data


def chart_of(entries: Iterable[dict[str, Any]], title: str, keys: dict[str, str], *, x: str = "step", y_label: str = "", note: str = "") -> Chart:
    """A line chart of training-log entries (the lines of a jsonl log).

    Args:
        entries: one dict a logged step; those without a key are passed over for that curve.
        keys: key in the log -> name of the curve.
        x: key of the horizontal axis.
    """
    entries = list(entries)
    curves = [Curve(name, [(float(e[x]), float(e[key])) for e in entries if x in e and e.get(key) is not None]) for key, name in keys.items()]
    return Chart(title, x, y_label, [curve for curve in curves if curve.points], note)


def _detail(difference: Difference, comparisons: int) -> str:
    corrected = f", corrected for {comparisons} comparisons" if comparisons > 1 else ""
    margin = max(abs(difference.change.low - difference.change.mean), abs(difference.change.high - difference.change.mean))
    unseen = "" if difference.significant else f" A difference smaller than about {margin:.3f} would go unseen with so many queries."
    return (
        f"{difference.after:.3f} against {difference.before:.3f} {difference.measure}: {difference.change.mean:+.3f} "
        f"(95% interval {difference.change.low:+.3f} to {difference.change.high:+.3f}) over {difference.queries:,} queries, "
        f"of which {difference.wins:,} gain, {difference.ties:,} stay and {difference.losses:,} lose. "
        f"Paired randomisation test: {p_text(difference.p_holm).replace(' ', NO_BREAK)}{corrected}.{unseen}"
    )
