"""The charts of the report, each a function from plain values to an SVG."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from retrolex.evaluation.report.data import Chart, Sparsity, System
from retrolex.evaluation.report.svg import BOTTOM, HEIGHT, RIGHT, TOP, WIDTH, Board, log_ticks, number, round_ticks, spread

POINTS = 300  # more than a line of 400 units can show
BINS = 24


def interval_chart(measure: str, systems: list[System], baseline: str) -> str:
    """A dot and whisker a system, on one scale; the baseline's average runs through as a line."""
    scores = [system.scores[measure] for system in systems]
    left = min(150, 14 + 6.4 * max(len(_clip(system.name)) for system in systems))
    step = 30
    ticks = round_ticks(min(s.low for s in scores), max(s.high for s in scores), 4)
    board = Board(ticks, [0, 1], measure, left=left, height=TOP + BOTTOM + step * len(systems))
    board.axes(rows=False)
    for system, score in zip(systems, scores, strict=True):
        if system.name == baseline:
            board.line(board.x(score.mean), TOP - 8, board.x(score.mean), board.height - BOTTOM, "reference")
    for i, (system, score) in enumerate(zip(systems, scores, strict=True)):
        y = TOP + step * (i + 0.5)
        board.text(left - 10, y + 4, _clip(system.name), "name", "end")
        board.line(board.x(score.low), y, board.x(score.high), y, f"whisker {score.standing}")
        board.parts.append(f'<circle class="dot {score.standing}" cx="{board.x(score.mean)}" cy="{y}" r="4.5"/>')
    told = "; ".join(f"{system.name} {s.mean:.3f} ({s.low:.3f} to {s.high:.3f})" for system, s in zip(systems, scores, strict=True))
    return board.svg(f"{measure} of every system with 95% intervals", told)


def cost_chart(measure: str, systems: list[System], cost: Callable[[System], float | None], label: str, text: Callable[[float], str]) -> str:
    """Quality against a cost on a logarithmic scale; systems whose cost is not known, or is 0, are left out. Empty when fewer than two remain."""
    known = [(system, float(cost(system) or 0)) for system in systems if cost(system)]
    if len(known) < 2:
        return ""
    scores = [system.scores[measure] for system, _ in known]
    board = Board(
        log_ticks(min(c for _, c in known), max(c for _, c in known)),
        round_ticks(min(s.low for s in scores), max(s.high for s in scores)),
        label,
        measure,
        log_x=True,
        x_text=text,
    )
    board.axes()
    heights = spread([board.y(score.mean) for score in scores], 15)
    for (system, value), score, height in zip(known, scores, heights, strict=True):
        x, y, name = board.x(value), board.y(score.mean), _clip(system.name)
        board.line(x, board.y(score.low), x, board.y(score.high), f"whisker {score.standing}")
        board.parts.append(f'<circle class="dot {score.standing}" cx="{x}" cy="{y}" r="5"/>')
        flip = x + 10 + 6.6 * len(name) > WIDTH
        board.text(x - 9 if flip else x + 9, height + 4, name, "name halo", "end" if flip else "start")
    told = "; ".join(f"{system.name} {s.mean:.3f} at {text(c)}" for (system, c), s in zip(known, scores, strict=True))
    return board.svg(f"{measure} against {label}", told)


def line_chart(chart: Chart) -> str:
    """One line a curve. Values that are not finite are left out, and said to be."""
    curves = [(curve.name, sorted(p for p in curve.points if all(map(math.isfinite, p)))) for curve in chart.curves]
    curves = [(name, points) for name, points in curves if points]
    if not curves:
        return ""
    xs, ys = ([point[axis] for _, points in curves for point in points] for axis in (0, 1))
    span = (min(xs), max(xs)) if max(xs) > min(xs) else None
    board = Board(round_ticks(min(xs), max(xs)), round_ticks(min(ys), max(ys)), chart.x_label, chart.y_label, span=span)
    board.axes()
    for i, (_, points) in enumerate(curves, 1):
        kept = points[:: max(1, len(points) // POINTS)]
        kept = kept if kept[-1] == points[-1] else [*kept, points[-1]]
        if len(kept) == 1:
            board.parts.append(f'<circle class="fill c{_colour(i)}" cx="{board.x(kept[0][0])}" cy="{board.y(kept[0][1])}" r="3.5"/>')
        path = " ".join(f"{board.x(x)},{board.y(y)}" for x, y in kept)
        board.parts.append(f'<polyline class="curve c{_colour(i)}" points="{path}"/>')
    told = "; ".join(f"{name}: from {number(p[0][1])} to {number(p[-1][1])}" for name, p in curves)
    return board.svg(chart.title, told)


def difference_chart(differences: list[float], measure: str) -> str:
    """One bar a query, sorted from the largest gain to the largest loss."""
    values = sorted(differences, reverse=True)
    top = max(max(values), 0.0)
    bottom = min(min(values), 0.0)
    board = Board([0, len(values)], round_ticks(bottom, top), "queries, sorted", f"change in {measure}")
    board.axes()
    for kind, some in (("gain", [v for v in values if v > 0]), ("loss", [v for v in values if v < 0])):
        start = 0 if kind == "gain" else len(values) - len(some)
        corners = [f"{board.x(start)},{board.y(0)}"]
        for i, value in enumerate(some, start):
            corners += [f"{board.x(i)},{board.y(value)}", f"{board.x(i + 1)},{board.y(value)}"]
        corners.append(f"{board.x(start + len(some))},{board.y(0)}")
        if some:
            board.parts.append(f'<polygon class="{kind}" points="{" ".join(corners)}"/>')
    board.line(board.left, board.y(0), WIDTH - RIGHT, board.y(0), "axis")
    wins, losses = sum(v > 0 for v in values), sum(v < 0 for v in values)
    return board.svg(f"Change in {measure}, query by query", f"{wins} queries gain, {len(values) - wins - losses} stay, {losses} lose.")


def sparsity_chart(sparsity: Sparsity, kind: str) -> str:
    """A histogram of how many terms the vectors of the documents (or queries) have."""
    counts = getattr(sparsity, kind)
    ticks = round_ticks(min(counts), max(counts) + 1)  # a count fills the place from itself to the next
    width = max(1, math.ceil((ticks[-1] - ticks[0]) / BINS))  # whole, so that every bar stands for as many counts
    heights = [0] * math.ceil((ticks[-1] - ticks[0]) / width)
    for value in counts:
        heights[int((value - ticks[0]) // width)] += 1
    board = Board(ticks, round_ticks(0, max(heights)), "terms with a weight", kind)
    board.axes()
    edges = [min(ticks[0] + width * i, ticks[-1]) for i in range(len(heights) + 1)]
    for (a, b), height in zip(pairwise(edges), heights, strict=True):
        if height:
            x, y = board.x(a) + 0.5, board.y(height)
            board.parts.append(f'<rect class="bar" x="{x:.1f}" y="{y}" width="{board.x(b) - x - 0.5:.1f}" height="{HEIGHT - BOTTOM - y:.1f}"/>')
    median = sorted(counts)[len(counts) // 2]
    board.line(board.x(median + 0.5), TOP - 8, board.x(median + 0.5), HEIGHT - BOTTOM, "reference")
    return board.svg(f"Terms in the vectors of the {kind}", f"Median {median:,}, from {min(counts):,} to {max(counts):,}.")


def _clip(name: str) -> str:
    return name if len(name) <= 22 else name[:21] + "…"


def _colour(i: int) -> int:
    return (i - 1) % 5 + 1
