"""The ladder from end to end on a miniature: every row, hybrids, reranking, the table; and nothing is made twice."""

from __future__ import annotations

import gzip
import shutil
import sys
from dataclasses import replace

from benchmarks.ladder import __main__ as ladder
from benchmarks.ladder import hybrids, sources, train
from benchmarks.ladder.plan import CONTROL, ROWS, SPLADE, TABLES, TEACHER
from benchmarks.ladder.sources import UNLABELLED
from tests.pipeline.small import write_collection, write_cross_encoder

COLLECTIONS = ("cranfield", "nfcorpus")  # one without dev questions, and one with
STEPS = {"steps": 2, "tokens_per_batch": 512, "probe_every": 2}


def test_every_row_on_every_collection(tmp_path, monkeypatch, capsys, tiny_model_folder):
    shared = tmp_path / "shared"
    shared.mkdir()
    for name in COLLECTIONS:
        write_collection(shared / name)
    (shared / "cranfield" / "qrels" / "dev.tsv").unlink()
    for name in UNLABELLED:
        (shared / name).mkdir()
        (shared / name / "corpus.jsonl.gz").write_bytes(gzip.compress((shared / "nfcorpus" / "corpus.jsonl").read_bytes()))
    models = tmp_path / "models"
    shutil.copytree(tiny_model_folder, models / SPLADE)
    write_cross_encoder(tiny_model_folder, models / TEACHER)

    monkeypatch.setattr(train, "PLAIN", {"layers": 1, "hidden_size": 32, "vocabulary": 200})
    monkeypatch.setattr(train, "PLAIN_TRAINING", ({"objective": "mlm", **STEPS}, {"objective": "mlm", **STEPS, "learning_rate": 1e-3}))
    small = [replace(table, pretrain=STEPS, finetune={"steps": 2, "queries": 4, "hard": 1}, pairs=40) for table in TABLES]
    monkeypatch.setattr(ladder, "TABLES", small)
    for module in (ladder, sources):
        monkeypatch.setattr(module, "COLLECTIONS", COLLECTIONS)
    monkeypatch.setattr(ladder, "TUNED", str(models / SPLADE))
    monkeypatch.setattr(sys, "argv", f"ladder --collections {shared} --models {models} --out {tmp_path / 'out'} --seeds 1".split())
    ladder.main()
    table = capsys.readouterr().out
    for row in ("BM25", "hybrid", "hybrid + reranker", *(row.name for row in ROWS)):
        assert table.count(f"| {row} | 1 |") == len(TABLES) * len(COLLECTIONS)
    assert table.count(f"| {CONTROL.name} | 1 |") == len(COLLECTIONS)
    assert table.count("56 documents") == len(TABLES) * len(COLLECTIONS)

    monkeypatch.setattr(ladder.Workshop, "train", None)
    monkeypatch.setattr(hybrids, "tune", None)
    ladder.main()
    assert capsys.readouterr().out == table
