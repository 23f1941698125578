"""The sections of the page, each a function from the data to HTML, empty when there is nothing to show."""

from __future__ import annotations

from retrolex.evaluation.report.charts import cost_chart, difference_chart, interval_chart, line_chart, sparsity_chart
from retrolex.evaluation.report.data import Change, Hit, ReportData, Score
from retrolex.evaluation.report.text import escape, highlight, shorten, surface
from retrolex.evaluation.table import MARKS, TESTED, human_bytes, human_ms

SNIPPET = 260
TERMS = 8  # matched terms named under a document


def results(data: ReportData) -> str:
    """The table, the main measure's intervals drawn, and the differences query by query."""
    sized = any(system.index_bytes is not None for system in data.systems)
    timed = any(system.ms_per_query is not None for system in data.systems)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ["System", *data.measures, *["Index"] * sized, *["ms a query"] * timed])
    rows = []
    for system in data.systems:
        role = '<span class="role">baseline</span>' if system.name == data.baseline else ""
        cells = [f'<th scope="row">{escape(system.name)}{role}</th>', *(_score(system.scores[m], data.baseline) for m in data.measures)]
        cells += [f"<td>{human_bytes(system.index_bytes)}</td>"] * sized + [f"<td>{human_ms(system.ms_per_query)}</td>"] * timed
        chosen = ' class="chosen"' if system.name == data.system else ""
        rows.append(f"<tr{chosen}>{''.join(cells)}</tr>")
    marks = f" ▲ better and ▼ worse than {escape(data.baseline)}, where the queries can show it." if data.baseline else ""
    table = (
        '<div class="scroll" role="region" aria-label="Results table" tabindex="0"><table>'
        f"<caption><span>Averages over queries; below them, 95% bootstrap intervals.{marks}</span></caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
    measure = data.measures[0]
    figures = _figure(interval_chart(measure, data.systems, data.baseline), measure, "with 95% intervals")
    if data.differences:
        figures += _figure(difference_chart(data.differences, measure), "Query by query", f"{data.system} minus {data.baseline}")
    return f'{table}<div class="figures">{figures}</div>{_tests(data)}'


def costs(data: ReportData) -> str:
    """Quality against the size of the index, and against the time of a query."""
    measure = data.measures[0]
    size = cost_chart(measure, data.systems, lambda s: s.index_bytes, "index size", lambda tick: human_bytes(int(tick)))
    time = cost_chart(measure, data.systems, lambda s: s.ms_per_query, "milliseconds a query", lambda tick: f"{tick:g}")
    figures = _figure(size, "Size", f"{measure} against the bytes of the index") + _figure(time, "Time", f"{measure} against milliseconds a query")
    note = "Up and to the left is better. Whiskers are 95% intervals; both costs are on logarithmic scales."
    return f'<p class="note">{note}</p><div class="figures">{figures}</div>' if figures else ""


def changes(data: ReportData) -> str:
    """The queries that gain and lose most, with the top documents of both systems side by side."""
    parts = []
    for title, some in (("Largest gains", data.gains), ("Largest losses", data.losses)):
        if some:
            parts.append(f"<h3>{title}</h3>" + "".join(_change(change, data, first=i == 0) for i, change in enumerate(some)))
    note = f"The queries whose {data.measures[0]} differs most between {data.baseline} and {data.system}, and the first documents of both."
    return f'<p class="note">{escape(note)}</p>{"".join(parts)}' if parts else ""


def training(data: ReportData) -> str:
    """Training and probe curves, with a key where a chart has several."""
    figures = []
    for chart in data.charts:
        items = []
        for i, curve in enumerate(chart.curves):
            stroke = f'<line class="curve c{i % 5 + 1}" x1="1" y1="4" x2="25" y2="4"/>'
            items.append(f'<li><svg viewBox="0 0 26 8" aria-hidden="true">{stroke}</svg>{escape(curve.name)}</li>')
        key = f'<ul class="key">{"".join(items)}</ul>' if len(items) > 1 else ""
        figures.append(_figure(line_chart(chart), chart.title, chart.note, key))
    return f'<div class="figures">{"".join(figures)}</div>' if any(figures) else ""


def sparsity(data: ReportData) -> str:
    """How many terms the lexicon vectors have."""
    if data.sparsity is None or not data.sparsity.documents:
        return ""
    of = f" of {data.sparsity.vocabulary:,}" if data.sparsity.vocabulary else ""
    figures = []
    for kind in ("documents", "queries"):
        counts = getattr(data.sparsity, kind)
        if counts:
            median = sorted(counts)[len(counts) // 2]
            note = f"{len(counts):,} vectors, median {median:,} terms{of} (dashed)"
            figures.append(_figure(sparsity_chart(data.sparsity, kind), kind.capitalize(), note))
    note = "Terms with a weight above 0. Fewer make a smaller and faster index."
    return f'<p class="note">{note}</p><div class="figures">{"".join(figures)}</div>'


def policy(data: ReportData) -> str:
    """How the figures were taken."""
    return f'<ul class="plain">{"".join(f"<li>{escape(sentence)}</li>" for sentence in data.policy)}</ul>' if data.policy else ""


def configuration(data: ReportData) -> str:
    """The recipe."""
    if not data.configuration.strip():
        return ""
    summary = f'<summary><span class="q">Every setting of the run, {len(data.configuration.splitlines()):,} lines</span></summary>'
    return f"<details>{summary}{_code(data.configuration, 'Configuration')}</details>"


def reproduce(data: ReportData) -> str:
    """The commands that give the same figures."""
    return _code("\n".join(data.commands), "Commands") if data.commands else ""


def _tests(data: ReportData) -> str:
    """Every difference from the baseline with its interval, its wins and losses, and both tests."""
    if not data.tests:
        return ""
    header, *lines = data.tests
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    rows = [f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>' for first, *rest in lines]
    return (
        '<h3>Differences</h3><div class="scroll" role="region" aria-label="Table of differences" tabindex="0"><table>'
        f"<caption><span>{TESTED}</span></caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _score(score: Score, baseline: str) -> str:
    mark = ""
    if MARKS[score.standing]:
        told = f'<span class="off">{score.standing} than {escape(baseline)}</span>'
        mark = f' <span class="{score.standing}"><span aria-hidden="true">{MARKS[score.standing]}</span>{told}</span>'
    return f'<td><b>{score.mean:.3f}</b>{mark}<span class="ci">{score.low:.3f} – {score.high:.3f}</span></td>'


def _figure(svg: str, title: str, note: str = "", key: str = "") -> str:
    return svg and f"<figure><figcaption><b>{escape(title)}</b> <span>{escape(note)}</span>{key}</figcaption>{svg}</figure>"


def _change(change: Change, data: ReportData, first: bool) -> str:
    delta = change.after - change.before
    kind = "better" if delta > 0 else "worse"
    pair = ((data.baseline, change.baseline_hits), (data.system, change.system_hits))
    lists = "".join(f"<div><h4>{escape(name)}</h4>{_hits(hits)}</div>" for name, hits in pair)
    values = f'<span class="d">{change.before:.3f} → {change.after:.3f}<b class="{kind}">{f"{delta:+.3f}".replace("-", "−")}</b></span>'
    summary = f'<summary><span class="q">{escape(shorten(change.query, 400))}</span>{values}</summary>'
    return f'<details{" open" if first else ""}>{summary}<div class="pair">{lists}</div></details>'


def _hits(hits: list[Hit]) -> str:
    return f'<ol class="hits">{"".join(map(_hit, hits))}</ol>' if hits else '<p class="note">Nothing found.</p>'


def _hit(hit: Hit) -> str:
    if hit.grade is None:
        grade = '<span class="grade">not judged</span>'
    elif hit.grade >= 1:
        grade = f'<span class="grade yes">relevant, grade {hit.grade}</span>'
    else:
        grade = '<span class="grade">judged not relevant</span>'
    names = [term for term, _ in hit.terms[:TERMS]]
    weights = "".join(f"<span><i>{escape(surface(term))}</i> {weight:.2f}</span>" for term, weight in hit.terms[:TERMS])
    terms = f'<p class="terms"><span class="off">Shared terms: </span>{weights}</p>' if weights else ""
    title = highlight(shorten(hit.title, 160), names) if hit.title else escape(hit.id)
    return f"<li><b>{title}</b> {grade}<p>{highlight(shorten(hit.text, SNIPPET), names)}</p>{terms}</li>"


def _code(text: str, label: str) -> str:
    return f'<pre tabindex="0" role="region" aria-label="{label}"><code>{escape(text.rstrip())}</code></pre>'
