"""The results table: for the terminal, and as markdown, csv and json files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from retrolex.evaluation.comparison import Comparison, compare, p_text
from retrolex.evaluation.significance import Interval, intervals
from retrolex.evaluation.terminal import Averages, Differences

if TYPE_CHECKING:
    from retrolex.evaluation.evaluate import Evaluation

TESTED = "Two-sided p of the paired t and randomisation tests, Holm-corrected over all rows; marks go by the randomisation test."
FEW = 20  # queries below which percentile intervals cover the truth markedly less often than they say
MARKS = {"better": "▲", "worse": "▼", "same": "", "baseline": ""}


@dataclass(frozen=True)
class Row:
    """One system of the table, with what it costs where that was measured."""

    name: str
    evaluation: Evaluation
    index_bytes: int | None = None
    ms_per_query: float | None = None


@dataclass(frozen=True)
class Results:
    """Rows with their intervals and their comparison with the baseline; made by `results`.

    Attributes:
        rows: the systems, in the order given.
        intervals: system -> measure -> average and 95% bootstrap interval.
        comparison: every other system against the baseline; None when there is nothing to compare.
    """

    rows: list[Row]
    intervals: dict[str, dict[str, Interval]]
    comparison: Comparison | None

    @property
    def measures(self) -> list[str]:
        """Canonical names of the columns."""
        return self.rows[0].evaluation.measures

    def standing(self, system: str, measure: str) -> str:
        """ "better" or "worse" than the baseline when that is shown, "same" when no difference is, "baseline" for the baseline."""
        if self.comparison is None or system == self.comparison.baseline:
            return "baseline"
        difference = self.comparison.of(system, measure)
        return "same" if not difference.significant else "better" if difference.change.mean > 0 else "worse"

    def counted(self) -> list[str]:
        """What the policy met, and how much of the top ten was judged: one line for all, then one a system."""
        lines = [f"Queries measured: {self.rows[0].evaluation.counts.queries:,}."]
        for row in self.rows:
            lines.append(f"{row.name}: {' '.join([*row.evaluation.counts.describe()[1:], f'Judged@10: {row.evaluation.judged:.0%}.'])}")
        return lines

    def notes(self) -> list[str]:
        """The small print: intervals, marks, policy and counts."""
        notes = ["Brackets: 95% bootstrap intervals over queries."]
        if self.rows[0].evaluation.counts.queries < FEW:
            notes[0] += f" With fewer than {FEW} queries they are too narrow."
        if self.comparison:
            marks = f"{MARKS['better']} better, {MARKS['worse']} worse than {self.comparison.baseline}"
            notes.append(f"{marks}: paired randomisation test, Holm-corrected, p < 0.05.")
        return [*notes, " ".join(self.rows[0].evaluation.policy.describe()), *self.counted()]

    def cells(self) -> list[list[str]]:
        """Header and rows as text: ``0.431 [0.402, 0.460] ▲``, bytes and milliseconds; columns nobody measured are left out."""
        sized, timed = (any(getattr(row, name) is not None for row in self.rows) for name in ("index_bytes", "ms_per_query"))
        lines = [["System", *self.measures, *["Index"] * sized, *["ms a query"] * timed]]
        for row in self.rows:
            line = [row.name]
            for measure in self.measures:
                mean, low, high = self.intervals[row.name][measure]
                line.append(f"{mean:.3f} [{low:.3f}, {high:.3f}] {MARKS[self.standing(row.name, measure)]}".rstrip())
            line += [human_bytes(row.index_bytes)] * sized + [human_ms(row.ms_per_query)] * timed
            lines.append(line)
        return lines

    def differences(self) -> list[list[str]]:
        """Header and rows as text: every other system's change against the baseline, its wins and losses, and both tests."""
        if self.comparison is None:
            return []
        lines = [["System", "Measure", f"Against {self.comparison.baseline}", "Wins / ties / losses", "t test", "Randomisation"]]
        for d in self.comparison.differences:
            change = f"{d.change.mean:+.3f} [{d.change.low:+.3f}, {d.change.high:+.3f}] {MARKS[self.standing(d.system, d.measure)]}".rstrip()
            lines.append([d.system, d.measure, change, f"{d.wins:,} / {d.ties:,} / {d.losses:,}", p_text(d.p_t_holm), p_text(d.p_holm)])
        return lines

    def rich(self) -> Averages:
        """A table for the terminal, the small print beneath it."""
        return Averages(self.cells(), self.notes())

    def rich_differences(self) -> Differences:
        """The differences for the terminal."""
        return Differences(self.differences(), [TESTED])

    def markdown(self) -> str:
        """The table and the differences in markdown, the small print beneath them."""
        parts = [_markdown(self.cells()), "".join(f"- {note}\n" for note in self.notes())]
        if self.comparison:
            parts += [_markdown(self.differences()), f"- {TESTED}\n"]
        return "\n".join(parts)

    def per_query(self) -> str:
        """The value of every query, system and measure, and its change against the baseline, as csv."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["query", "system", "measure", "value", "change"])
        base = next((row for row in self.rows if self.comparison and row.name == self.comparison.baseline), None)
        for row in self.rows:
            for measure in self.measures:
                values = row.evaluation.values[measure]
                before = base.evaluation.values[measure] if base else values
                changes = ["" for _ in values] if base in (None, row) else (values - before).round(12).tolist()
                names = zip(row.evaluation.queries, values.tolist(), changes, strict=True)
                writer.writerows([query, row.name, measure, value, change] for query, value, change in names)
        return text.getvalue()

    def records(self) -> list[dict[str, Any]]:
        """One flat record a system and measure, with every figure unrounded."""
        records = []
        for row in self.rows:
            for measure in self.measures:
                record = {"system": row.name, "measure": measure, **self.intervals[row.name][measure]._asdict(), "index_bytes": row.index_bytes}
                record |= {"ms_per_query": row.ms_per_query, "queries": len(row.evaluation.queries), "judged_at_10": row.evaluation.judged}
                compared = self.comparison is not None and row.name != self.comparison.baseline
                difference = self.comparison.of(row.name, measure) if self.comparison and compared else None
                record |= {"against": difference.baseline if difference else None}
                for name in ("wins", "ties", "losses", "p_t", "p_randomisation", "p_t_holm", "p_holm", "significant"):
                    record[name] = getattr(difference, name) if difference else None
                for end in ("mean", "low", "high"):
                    record[f"change_{end}"] = getattr(difference.change, end) if difference else None
                records.append(record)
        return records

    def csv(self) -> str:
        """The records as csv."""
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(self.records()[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        return text.getvalue()

    def json(self) -> str:
        """Policy, counts and records as json."""
        counts = {row.name: asdict(row.evaluation.counts) for row in self.rows}
        value = {"policy": asdict(self.rows[0].evaluation.policy), "counts": counts, "records": self.records()}
        return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def results(rows: Sequence[Row], baseline: str | None = None) -> Results:
    """Work out intervals and comparisons of `rows`; `baseline` names the row to compare with, the first when None.

    Raises:
        UserError: the rows were not measured alike, or no row has the baseline's name.
    """
    rows = list(rows)
    comparison = compare({row.name: row.evaluation for row in rows}, baseline or rows[0].name) if len(rows) > 1 else None
    return Results(rows, {row.name: intervals(row.evaluation) for row in rows}, comparison)


def _markdown(lines: list[list[str]]) -> str:
    """A markdown table."""
    header, *body = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "".join("| " + " | ".join(line) + " |\n" for line in [header, rule, *body])


def human_bytes(count: int | None) -> str:
    """1,234,567 bytes as ``1.2 MB`` (powers of ten); an en dash when not measured."""
    if count is None:
        return "–"
    size, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while size >= 999.5 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.0f} {units[0]}" if size >= 99.5 or units[0] == "B" else f"{size:.1f} {units[0]}"


def human_ms(milliseconds: float | None) -> str:
    """Milliseconds to two or three significant digits; an en dash when not measured."""
    if milliseconds is None:
        return "–"
    return f"{milliseconds:.0f}" if milliseconds >= 99.5 else f"{milliseconds:.1f}" if milliseconds >= 0.995 else f"{milliseconds:.2f}"
