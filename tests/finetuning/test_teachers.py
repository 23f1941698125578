"""Teachers: scores are the cross-encoder's, given once, kept by ids and the model's hash; training one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from tests.finetuning.training_pieces import NEGATIVES, PAIRS, TEXTS

from retrolex.errors import UserError
from retrolex.finetuning import teachers
from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.teach import TeachOptions, teach
from retrolex.finetuning.teachers import Teacher, ids

OPTIONS = TeachOptions(steps=30, queries=8, hard=2, length=40, learning_rate=1e-2, bf16=False)
EASY = [replace(pair, positive="vitamin and calcium help to keep bones strong") for pair in PAIRS]  # what is right shows without the query


@pytest.fixture(scope="module")
def taught(tiny_model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("taught")
    teach(tiny_model_folder, EASY, NEGATIVES, TEXTS.__getitem__, folder, OPTIONS)
    return folder


def test_a_taught_cross_encoder_puts_positives_first(taught: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (taught / "logs/train.jsonl").read_text().splitlines()]
    assert rows[-1]["loss"] < 0.5 * rows[0]["loss"] and not (taught / "checkpoints").exists()
    teacher = Teacher(taught, tmp_path)
    assert teacher.model.tokenizer.model_max_length == 40
    scores = teacher.scores(EASY, NEGATIVES, TEXTS.__getitem__)
    assert (scores.argmax(1) == 0).all()


def test_scores_are_the_models_and_are_given_once(taught: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(teachers, "BLOCK", 5)
    part = Pair("about the wing", "nothing else", "wing", "wing", "cloze", "q7")
    pairs, negatives = [*PAIRS, PAIRS[0], part], [*NEGATIVES, NEGATIVES[0], NEGATIVES[0]]
    teacher = Teacher(taught, tmp_path)
    scores = teacher.scores(pairs, negatives, TEXTS.__getitem__)
    for pair, found, row in zip(pairs, negatives, scores, strict=True):
        texts = [pair.positive, *(TEXTS[negative.document] for negative in found)]
        expected = teacher.model.predict([(pair.query, text) for text in texts], activation_fn=torch.nn.Identity())
        np.testing.assert_allclose(row, expected, atol=1e-5)
    assert scores.dtype == np.float32 and len(list(teacher.parts())) == 6  # 27 of the 30 are different, five a file
    tables = [pa.ipc.open_file(path).read_all() for path in teacher.parts()]
    assert sum(map(len, tables)) == 27 and tables[0].column_names == ["query", "document", "score"]
    assert "q7" in [query for table in tables for query in table["query"].to_pylist()]

    next(iter(teacher.parts())).unlink()  # a killed run has some of them
    again = Teacher(taught, tmp_path)
    calls = []
    monkeypatch.setattr(again.model, "predict", lambda read, **rest: calls.append(len(read)) or np.zeros(len(read), np.float32))
    repeated = again.scores(pairs, negatives, TEXTS.__getitem__)
    assert calls == [5] and np.count_nonzero(repeated != scores) >= 5


def test_a_part_of_a_document_is_another_document() -> None:
    whole, part = Pair("q", "a b", "d", "d", "title"), Pair("q", "a", "d", "d", "cloze")
    text = {"d": "a b"}.__getitem__
    assert ids(whole, None, text)[1] == "d" and ids(part, None, text)[1].startswith("d#")
    assert ids(whole, None, text)[0] == ids(part, None, text)[0]


def test_what_cannot_teach_says_so(tiny_model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cross-encoder"):
        Teacher(tmp_path / "absent", tmp_path)
    with pytest.raises(UserError, match="3 negatives a query"):
        teach(tiny_model_folder, PAIRS, NEGATIVES, TEXTS.__getitem__, tmp_path, TeachOptions(hard=3))
    with pytest.raises(UserError):
        teach(tmp_path / "absent", PAIRS, NEGATIVES, TEXTS.__getitem__, tmp_path, TeachOptions(hard=2))
