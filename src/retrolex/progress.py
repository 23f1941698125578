"""Progress bars on standard error, for anything that takes more than a moment."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def track(items: Iterable[Item], label: str, total: int | None = None) -> Iterator[Item]:
    """Yield from `items` under a progress bar; where nobody watches (no terminal), print one closing line instead."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    total = total if total is not None else (len(items) if hasattr(items, "__len__") else None)
    console = Console(stderr=True)
    if not console.is_terminal:
        count = 0
        for item in items:
            yield item
            count += 1
        print(f"{label}: {count:,} done", file=sys.stderr, flush=True)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(label, total=total)
        for item in items:
            yield item
            progress.advance(task)


def say(message: str) -> None:
    """One line to the person watching, on standard error, so that standard output stays for results."""
    print(message, file=sys.stderr, flush=True)
