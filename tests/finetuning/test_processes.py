"""Two processes end where one with twice the batch does: negatives and FLOPS are everybody's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.finetuning.training_pieces import NEGATIVES, PAIRS, SCORES, SPECS, TEXTS

from retrolex.backbones import load_backbone
from retrolex.finetuning.options import FinetuneOptions
from retrolex.finetuning.train import finetune

WORKER = """
import sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from tests.finetuning.test_processes import train
train(Path(sys.argv[1]), Path(sys.argv[2]), 4)
"""


def train(start: Path, folder: Path, queries: int) -> None:
    """A few steps of everything that crosses processes: plain, and with cached gradients over accumulated batches."""
    for name, options in {"lexicon": {"accumulate": 1}, "dupmae": {"accumulate": 2, "queries": queries // 2, "chunk": 40}}.items():
        sizes = {"queries": queries, "hard": 2, "steps": 3, "loss": "distill", "flops": 0.1, "learning_rate": 3e-3, "log_every": 1, "bf16": False}
        backbone, tokenizer = load_backbone(start)
        finetune(backbone, tokenizer, SPECS[name], PAIRS, NEGATIVES, TEXTS.__getitem__, folder / name, FinetuneOptions(**(sizes | options)), SCORES)


def test_two_processes_are_one_with_twice_the_batch(tiny_model_folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "worker.py"
    script.write_text(WORKER, encoding="utf-8")
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, *sys.path]), "OMP_NUM_THREADS": "1"}
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run([*launch, str(script), str(tiny_model_folder), str(tmp_path / "two")], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    train(tiny_model_folder, tmp_path / "one", 8)
    for name in ("lexicon", "dupmae"):
        one, two = ((tmp_path / side / name / "logs/train.jsonl").read_text().splitlines() for side in ("one", "two"))
        assert len(one) == len(two) == 3
        for row, other in zip(map(json.loads, one), map(json.loads, two), strict=True):
            for term in ("loss", "contrastive", "distill", "document_flops", "query_flops", "grad_norm"):
                assert row[term] == pytest.approx(other[term], rel=1e-3, abs=1e-4), (name, term)
        left, right = (load_backbone(tmp_path / side / name)[0].state_dict() for side in ("one", "two"))
        assert all(torch.allclose(left[key], right[key], atol=2e-4) for key in left), name
