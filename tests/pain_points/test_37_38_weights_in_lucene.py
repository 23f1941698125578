"""Pains 37 and 38: Lucene cuts float weights to integers, so that 0.9 becomes an empty document; and a weight written as so many
repetitions makes files and indexing slow. Here weights leave as integers with their scale, once a term, and `bits` makes them smaller."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from retrolex.collection import Collection
from retrolex.collection.importing import import_collection
from retrolex.export.form import Form
from retrolex.export.json_vectors import write_json_vectors
from retrolex.export.vectors import Vectors
from retrolex.index.lexicon import LexiconIndex
from retrolex.index.lexicon.weights import Weights

TERMS = [f"term{number}" for number in range(400)]


def exported(folder: Path, row: np.ndarray, weights: Weights, bits: int | None = None) -> tuple[dict[str, float], float, int]:
    """Terms, scale and bytes of one document's line."""
    (folder / "source.jsonl").write_text('{"_id": "d", "text": "a cat"}\n', encoding="utf-8")
    (folder / "collection").mkdir()
    import_collection(folder / "source.jsonl", folder / "collection")
    index = LexiconIndex.build(folder / "index", ["d"], sp.csr_array(row[None, :].astype(np.float32)), weights)
    vectors = Vectors(Form("lexicon", len(TERMS), TERMS, weights), Collection.open(folder / "collection"), index.impact_blocks)
    counts = write_json_vectors(vectors, folder / "out.jsonl", TERMS, "contents", bits)
    line = (folder / "out.jsonl").read_text(encoding="utf-8")
    return json.loads(line)["vector"], counts["scale"], len(line)


@pytest.mark.parametrize("weights", ["floor", "round", "float"])
def test_a_weight_below_one_is_kept(weights: Weights, tmp_path: Path) -> None:
    row = np.zeros(400)
    row[7] = 0.91
    vector, scale, _ = exported(tmp_path, row, weights)
    assert vector == {"term7": 91}
    assert isinstance(vector["term7"], int)
    assert scale == 100


def test_a_weight_of_250_is_written_once(tmp_path: Path) -> None:
    vector, _, size = exported(tmp_path, np.full(400, 2.505), "floor")
    assert set(vector.values()) == {250}
    assert size < 400 * 20


def test_bits_make_fewer_repetitions(tmp_path: Path) -> None:
    vector, scale, _ = exported(tmp_path, np.full(400, 2.505), "floor", bits=4)
    assert set(vector.values()) == {15}
    assert scale == pytest.approx(6)
