"""What a report is made of: plain values, so that any pipeline can fill it in. Parts left empty have no section."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Score:
    """An average with its 95% interval; standing is "better", "worse", "same" or "baseline"."""

    mean: float
    low: float
    high: float
    standing: str = "baseline"


@dataclass
class System:
    """A row of the results: measure -> score, and what the system costs (bytes of its index, milliseconds a query)."""

    name: str
    scores: dict[str, Score]
    index_bytes: int | None = None
    ms_per_query: float | None = None


@dataclass
class Curve:
    """One line of a chart."""

    name: str
    points: list[tuple[float, float]]


@dataclass
class Chart:
    """A line chart: training losses, a probe, a learning rate."""

    title: str
    x_label: str
    y_label: str
    curves: list[Curve]
    note: str = ""


@dataclass
class Sparsity:
    """Terms with a weight above 0 in each lexicon vector of the documents and of the queries."""

    documents: list[int]
    queries: list[int] = field(default_factory=list)
    vocabulary: int | None = None


@dataclass
class Hit:
    """A retrieved document; grade is None when nobody judged it; terms are those shared with the query and what each adds to the score."""

    id: str
    title: str
    text: str
    grade: int | None = None
    terms: list[tuple[str, float]] = field(default_factory=list)


@dataclass
class Change:
    """A query on which the two systems differ: the measure before (baseline) and after, and the top documents of both."""

    query_id: str
    query: str
    before: float
    after: float
    baseline_hits: list[Hit] = field(default_factory=list)
    system_hits: list[Hit] = field(default_factory=list)


@dataclass
class ReportData:
    """Everything the page shows.

    Attributes:
        title: name of the collection or experiment.
        headline: the answer in one sentence.
        detail: the figures the headline rests on.
        measures: canonical names, the main one first; the keys of every system's scores.
        systems: rows of the results table.
        baseline, system: names of the two rows that headline, differences, gains and losses are about.
        facts: small facts under the headline, name -> value (documents, queries, date ...).
        tests: of every system against the baseline, header and rows of text.
        differences: system - baseline of the main measure, one a query.
        gains, losses: largest changes first.
        charts: training and probe curves.
        sparsity: of the lexicon vectors.
        policy: how the figures were taken, one sentence an entry.
        configuration: the recipe, as text.
        commands: what to type to get the same figures.
    """

    title: str
    headline: str
    detail: str
    measures: list[str]
    systems: list[System]
    baseline: str = ""
    system: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    tests: list[list[str]] = field(default_factory=list)
    differences: list[float] = field(default_factory=list)
    gains: list[Change] = field(default_factory=list)
    losses: list[Change] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    sparsity: Sparsity | None = None
    policy: list[str] = field(default_factory=list)
    configuration: str = ""
    commands: list[str] = field(default_factory=list)
