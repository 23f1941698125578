"""The report in the terminal."""

from __future__ import annotations

from collections import Counter

from retrolex.collection.doctor.examine import ORDER, Report

COLOURS = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def show(report: Report) -> None:
    """Print what the source holds, and a table of findings."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    for name, value in summary(report):
        console.print(Text(f"{name:<11}", style="dim").append(value, style="default"))
    if not report.findings:
        console.print(Text("\nNothing to mend.", style="bold green"))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
    table.add_column("")
    table.add_column("count", justify="right", no_wrap=True)
    table.add_column("finding")
    for finding in report.findings:
        text = Text().append(finding.name, style="bold")
        for place, what in finding.examples:
            text.append(f"\n{place}  ").append(what, style="dim")
        text.append(f"\n→ {finding.mend}")
        table.add_row(Text(finding.severity, style=COLOURS[finding.severity]), f"{finding.count:,}", text, end_section=True)
    console.print(table)
    counts = Counter(finding.severity for finding in report.findings)
    told = [f"{counts[severity]} {severity}{'s' if counts[severity] > 1 else ''}" for severity in ORDER if counts[severity]]
    console.print(Text(", ".join(told), style=COLOURS[report.findings[0].severity]))


def summary(report: Report) -> list[tuple[str, str]]:
    """What the source holds, in a few lines of name and value."""
    counts, lengths = report.counts, report.lengths
    judgments = ", ".join(f"{split} {count:,}" for split, count in counts["judgments"].items()) or "none"
    spread = f"{lengths['least']:,} to {lengths['most']:,}, median {lengths['median']:,}, 95% up to {lengths['95%']:,}"
    unit = "words" if lengths["tokenizer"] == "words" else f"tokens ({lengths['tokenizer']})"
    languages = [f"{language} {share:.0%}" for language, share in report.languages.items() if share >= 0.005]
    return [
        ("source", f"{report.source} ({report.reader})"),
        ("documents", f"{counts['documents']:,}"),
        ("queries", f"{counts['queries']:,}"),
        ("judgments", judgments),
        ("length", f"{spread} {unit}; {lengths['truncated']:.1%} are longer than {lengths['length']:,}"),
        ("language", ", ".join(languages[:4]) + (", ..." if len(languages) > 4 else "")),
    ]
