"""The command line: one short file a verb; a new verb is a new file and one name here, in the order in which `--help` lists them."""

from retrolex.cli import run, search, evaluate, compare  # noqa: F401, I001
from retrolex.cli.app import main

__all__ = ["main"]
