"""Answers in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrolex.search.searcher import Answer


def show(query: str, answers: Sequence[Answer]) -> None:
    """Print titles, scores, snippets, and who found each."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    if not answers:
        console.print(Text(f"Nothing found for {query!r}."))
        return
    for answer in answers:
        console.print(Text(f"{answer.rank:>2}. ").append(answer.title or answer.id, style="bold").append(f"  {answer.score:.3f}", style="cyan"))
        found = ", ".join(f"{name} #{rank}" for name, rank in answer.found_by.items())
        console.print(Text(f"    {answer.id}  ({found})", style="dim"))
        console.print(Text(f"    {answer.snippet}\n"))
