"""The command line: one short file a verb; a new verb is a new file and one name here, in the order in which `--help` lists them."""

from retrolex.cli import run, check, pretrain, mine, teach, finetune, encode, index, search, evaluate, compare, report, reproduce, export  # noqa: F401, I001
from retrolex.cli.app import main

__all__ = ["main"]
