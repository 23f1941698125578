"""Result tables in a terminal of any width: nothing is ever cut off, and rows that do not fit are set in more lines."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

Lines = list[list[str]]  # a header and rows


@dataclass(frozen=True)
class Averages:
    """The table of averages: as it is, with intervals below their averages, or a line a system and measure, whichever fits first."""

    lines: Lines
    notes: list[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        header, *body = self.lines
        long = [["System", "Measure", "Average"], *([row[0], *pair] for row in body for pair in zip(header[1:], row[1:], strict=True))]
        forms = (self.lines, [list(map(stacked, line)) for line in self.lines])
        yield table(next((lines for lines in forms if fits(lines, options.max_width)), long), self.notes)


@dataclass(frozen=True)
class Differences:
    """The table of differences, whole where it fits, otherwise a table a system."""

    lines: Lines
    notes: list[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if fits(self.lines, options.max_width):
            yield table(self.lines, self.notes)
            return
        header, *body = self.lines
        for system, rows in groupby(body, key=lambda row: row[0]):
            yield table([header[1:], *([stacked(cell) for cell in row[1:]] for row in rows)], [], title=system)
        yield from self.notes


def stacked(cell: str) -> str:
    """An average with its interval on a line of its own, its mark beside it; other cells as they are."""
    average, _, rest = cell.partition(" [")
    interval, closed, mark = rest.partition("]")
    return f"{average}{mark}\n[{interval}]" if closed else cell


def fits(lines: Lines, width: int) -> bool:
    """Whether a table's lines need not be broken."""
    widths = [max(len(part) for cell in column for part in cell.split("\n")) for column in zip(*lines, strict=True)]
    return sum(widths) + 3 * len(widths) + 1 <= width


def table(lines: Lines, notes: list[str], title: str | None = None) -> Table:
    """A table with small print beneath it; names are text, never markup."""
    from rich.table import Table
    from rich.text import Text

    header, *body = lines
    caption = Text("\n".join(notes)) if notes else None
    made = Table(title=Text(title) if title else None, title_justify="left", caption=caption, caption_justify="left", caption_style="dim")
    for i, name in enumerate(header):
        made.add_column(Text(name), justify="right" if i else "left", overflow="fold")
    for line in body:
        made.add_row(*map(Text, line))
    return made
