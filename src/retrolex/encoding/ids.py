"""Ids beside shards of vectors: ``ids.jsonl``, one JSON string a line, in the order of the vectors.

JSON, because an id may hold whatever the source put there, line breaks included.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from retrolex.errors import UserError

IDS = "ids.jsonl"


def write_shard_ids(folder: Path, ids: Iterable[str]) -> None:
    """Write ``ids.jsonl``, whole or not at all; everything outside ASCII is escaped."""
    temporary = folder / f"{IDS}.writing"
    with open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(id) + "\n" for id in ids)
    os.replace(temporary, folder / IDS)


def read_shard_ids(path: Path) -> list[str]:
    """The ids.

    Raises:
        UserError: a line that is not a JSON string.
    """
    ids = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                ids.append(json.loads(line))
            except ValueError:
                ids.append(None)
            if not isinstance(ids[-1], str):
                raise UserError("not an id in quotation marks", where=f"{path}:{number}", mend="encode the collection again")
    return ids
