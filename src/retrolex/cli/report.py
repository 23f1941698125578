"""`retrolex report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from retrolex.cli.app import app


@app.command(epilog="Example: `retrolex report runs/python-docs`")
def report(
    folder: Annotated[Path, typer.Argument(help="A folder that `retrolex run` wrote.")],
) -> None:
    """Write the report of a finished run again: one HTML file that needs no network."""
    from retrolex.pipeline.command import quiet
    from retrolex.pipeline.reporting import rewrite_report

    quiet()
    print(f"Report: {rewrite_report(folder)}")
