"""A small drawing board: axes with round numbers, and the SVG around them.

Charts are drawn for a phone's width (400 units) and set in columns on wider screens, so that their text stays readable on both.
Colours come from the page's style sheet, by class.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from retrolex.evaluation.report.text import escape

WIDTH, HEIGHT = 400, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 26, 40


def round_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers (steps of 1, 2 or 5 times a power of ten) that enclose low and high, about so many."""
    if not high > low:
        pad = abs(low) * 0.1 or 1.0
        low, high = low - pad, high + pad
    rough = (high - low) / about
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, with 2 and 5 times them where they are few, that enclose low and high (both above 0)."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors = (1, 2, 5) if last - first <= 2 else (1,)
    ticks = [factor * 10.0**power for power in range(first - 1, last + 2) for factor in factors]  # one more at either end, against rounding
    below, above = max(t for t in ticks if t <= low), min(t for t in ticks if t >= high)
    chosen = [t for t in ticks if below <= t <= above]
    return chosen if len(chosen) > 1 else [chosen[0] / 2, chosen[0], chosen[0] * 2]


def number(value: float, decimals: int | None = None) -> str:
    """A value as text: 12,000 or 0.25 or −3, with the decimals asked for, or as many as it needs (six at most)."""
    if value and (abs(value) >= 1e6 or abs(value) < 1e-4):
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("-", "−")
    text = f"{value:,.6f}".rstrip("0").rstrip(".") if decimals is None else f"{value:,.{decimals}f}"
    return text.replace("-", "−")


def labels(ticks: list[float]) -> list[str]:
    """Labels of an axis, all with the same number of decimals."""
    decimals = max(len(number(tick).partition(".")[2]) for tick in ticks)
    return [number(tick, decimals) for tick in ticks]


@dataclass
class Board:
    """An SVG under construction, with linear axes (logarithmic in x when asked). `x` and `y` turn values into units."""

    x_ticks: list[float]
    y_ticks: list[float]
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    x_text: Callable[[float], str] | None = None
    span: tuple[float, float] | None = None  # of the horizontal axis, where it does not reach from first to last tick
    left: float = LEFT
    height: float = HEIGHT
    parts: list[str] = field(default_factory=list)

    def x(self, value: float) -> float:
        """Horizontal place of a value."""
        bend = math.log10 if self.log_x else float
        low, high = map(bend, self.span or (self.x_ticks[0], self.x_ticks[-1]))
        return round(self.left + (bend(value) - low) / (high - low) * (WIDTH - RIGHT - self.left), 1)

    def y(self, value: float) -> float:
        """Vertical place of a value."""
        low, high = self.y_ticks[0], self.y_ticks[-1]
        return round(self.height - BOTTOM - (value - low) / (high - low) * (self.height - BOTTOM - TOP), 1)

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line of a class of the style sheet."""
        self.parts.append(f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        """A piece of text, escaped."""
        self.parts.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>')

    def axes(self, rows: bool = True) -> None:
        """Grid lines and labels; `rows` False leaves out the vertical axis."""
        floor, edge = self.height - BOTTOM, -math.inf
        for tick, label in zip(self.y_ticks, labels(self.y_ticks), strict=True) if rows else ():
            self.line(self.left, self.y(tick), WIDTH - RIGHT, self.y(tick), "grid")
            self.text(self.left - 6, self.y(tick) + 4, label, "tick", "end")
        for tick, label in zip(self.x_ticks, [self.x_text(t) for t in self.x_ticks] if self.x_text else labels(self.x_ticks), strict=True):
            place, half = self.x(tick), 3.6 * len(label)
            if place - half < edge or not self.left <= place <= WIDTH - RIGHT:
                continue  # no room for this label
            edge = place + half + 6
            self.line(place, floor, place, floor + 4, "axis")
            self.text(min(place, WIDTH - half), floor + 17, label, "tick", "middle")
        self.line(self.left, floor, WIDTH - RIGHT, floor, "axis")
        self.text((self.left + WIDTH - RIGHT) / 2, self.height - 5, self.x_label, "label", "middle")
        if rows:
            self.text(2, 12, self.y_label, "label")

    def svg(self, name: str, description: str) -> str:
        """The drawing, with a title and a description for those who cannot see it."""
        body = "".join(self.parts)
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height:g}" role="img" aria-label="{escape(name)}">'
            f"<title>{escape(name)}</title><desc>{escape(description)}</desc>{body}</svg>"
        )


def spread(places: list[float], gap: float) -> list[float]:
    """Places moved as little as it takes for neighbours to be `gap` apart, in the order given."""
    moved = list(places)
    order = sorted(range(len(places)), key=places.__getitem__)
    for _ in range(50):
        shifted = False
        for a, b in pairwise(order):
            short = gap - (moved[b] - moved[a])
            if short > 0.01:
                moved[a], moved[b], shifted = moved[a] - short / 2, moved[b] + short / 2, True
        if not shifted:
            break
    return moved
