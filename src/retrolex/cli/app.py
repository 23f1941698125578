"""The command line itself: what every verb shares."""

from __future__ import annotations

import errno
import sys
from typing import Annotated

import typer

from retrolex import __version__
from retrolex.errors import UserError

OUTSIDE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.ENAMETOOLONG)  # faults of the disk, not of the program
INTERRUPTED = 130  # what typer exits with after Ctrl-C, and shells expect

app = typer.Typer(
    help="Turn a pile of text into a measured search engine.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """The console script: what the user can mend becomes one message and exit code 2."""
    try:
        app()
    except UserError as error:
        print(f"retrolex: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in OUTSIDE or error.filename is None:
            raise
        print(f"retrolex: {error.filename}: {error.strerror}\n  To mend it: make room, or choose a place you may write to", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != INTERRUPTED:
            raise
        print("retrolex: interrupted; the same command continues where it was", file=sys.stderr)
        sys.exit(INTERRUPTED)


def show_version(wanted: bool) -> None:
    if wanted:
        print(f"retrolex {__version__}")
        raise typer.Exit


@app.callback()
def options(version: Annotated[bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")] = False) -> None:
    """Turn a pile of text into a measured search engine.

    Start with `retrolex run --collection python-docs`, or with a folder of your own text.
    """
