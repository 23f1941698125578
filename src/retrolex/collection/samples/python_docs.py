"""The documentation of the Python standard library, read from the interpreter that runs, with questions people ask about it.

One document per module, class, function, method and property that has a docstring of its own.

- **id**: the qualified name under which one would write the object after importing its module: ``pathlib.Path.read_text``,
  ``os.path.join``, ``json.JSONDecodeError``. Builtins go without ``builtins.``: ``open``, ``str.split``, ``ValueError``.
  An object with several names has one document, under its best-known name (``asyncio.run``, not ``asyncio.runners.run``).
- **title**: the name with its parameters, led by ``module``, ``class``, ``exception`` or ``attribute`` where that applies.
- **text**: the docstring, without its indentation. A class without one lets its constructor speak.

Left out: private names and special methods, docstrings that repeat a base class's word for word or that a machine wrote,
``tkinter`` and ``turtle`` (absent from many builds), ``distutils``, and modules that do something when imported. What
the interpreter's build or platform lacks is not there to be read: about 5,800 documents remain, a few more or less from
one Python to the next.

Questions were written and judged from knowledge of the library alone, 2 for an answer and 1 for a help, without looking
at what any retriever returns. Judgments name only objects that Python 3.10 to 3.14 document, so that a question means the
same everywhere; what a later Python adds (``asyncio.timeout``) counts as unjudged. Every third question is for development.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from retrolex.collection.documents import Document, Qrels

HERE = Path(__file__).parent
READER = HERE / "stdlib_reader.py"
QUERIES = HERE / "python_docs_queries.jsonl"
QRELS = HERE / "python_docs_qrels.tsv"


def documents() -> Iterator[Document]:
    """Every document in order of its id; the same ones on every run of the same interpreter.

    A second, isolated interpreter does the reading (about two seconds), so that nothing is imported into this process.

    Raises:
        RuntimeError: that interpreter failed; the message ends with what it wrote.
    """
    command = [sys.executable, "-I", "-S", "-W", "ignore", str(READER)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode != 0:
        raise RuntimeError(f"reading the standard library of {sys.executable} failed:\n{done.stderr[-2000:]}")
    for line in done.stdout.splitlines():
        yield Document(*json.loads(line))


def _questions() -> list[dict[str, str]]:
    return [json.loads(line) for line in QUERIES.read_text(encoding="utf-8").splitlines()]


def queries() -> dict[str, str]:
    """Question texts by query id, both splits together."""
    return {question["_id"]: question["text"] for question in _questions()}


def qrels() -> dict[str, Qrels]:
    """Judgments by split: ``qrels()["test"][query id][document id]`` is 2 for an answer, 1 for a help."""
    split_of = {question["_id"]: question["split"] for question in _questions()}
    judged: dict[str, Qrels] = {split: {} for split in sorted(set(split_of.values()))}
    with open(QRELS, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            of_query = judged[split_of[row["query-id"]]].setdefault(row["query-id"], {})
            of_query[row["corpus-id"]] = int(row["score"])
    return judged
