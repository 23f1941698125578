"""As many training rows as there are pairs, whatever was mined and however it is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrolex.collection import Collection, import_collection
from retrolex.finetuning.formats import FORMATS, format_of, mined_rows, read_rows, resolve, training_set, write_rows
from retrolex.finetuning.negatives import NEGATIVES, MiningOptions, mine, read_negatives
from retrolex.finetuning.pairs import Pair

TEXTS = ["a wing in flight", "a bone in the body", "a file on the disk"]


@pytest.mark.parametrize("wanted", [2, 5])
@pytest.mark.parametrize("name", FORMATS)
def test_5_three_pairs_are_three_rows(tmp_path: Path, name: str, wanted: int) -> None:
    """Three documents cannot give five negatives: the rows stay, and say so by repeating or by holding fewer."""
    (tmp_path / "docs.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    (tmp_path / "collection").mkdir()
    import_collection(tmp_path / "docs.txt", tmp_path / "collection")
    collection, form = Collection.open(tmp_path / "collection"), format_of(name)
    pairs = [
        Pair(f"query {number}", text, id, id, "labelled", f"q{number}") for number, (id, text) in enumerate(zip(collection.ids, TEXTS, strict=True))
    ]

    def search(queries: list[str], depth: int) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(np.arange(3)[:depth], np.ones(3, np.float32)[:depth])] * len(queries)

    mine(pairs, search, "any", collection.ids, np.arange(3), tmp_path, MiningOptions(per_query=wanted))
    path = tmp_path / f"rows{form.suffixes[0]}"
    write_rows(path, name, mined_rows(pairs, read_negatives(tmp_path / NEGATIVES), collection, form))
    looked_up = Collection.open(tmp_path / "collection")
    looked_up.queries = {pair.query_id: pair.query for pair in pairs}  # the collection of a format that names its queries has them
    found = training_set(resolve(read_rows(path, name), looked_up))
    assert {pair.query for pair in found.pairs} == {"query 0", "query 1", "query 2"} and found.removed == 0
    for pair, negatives in zip(found.pairs, found.negatives, strict=True):
        assert negatives and pair.positive not in {found.texts[negative.document] for negative in negatives}
