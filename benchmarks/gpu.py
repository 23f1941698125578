"""A CUDA device's check in one run of under four minutes: ``python benchmarks/gpu.py [--golden FOLDER]``.

Prints, and exits with 1 where one of them fails: golden values on the device (where a folder is given), the fused losses against
the full computation, a bfloat16 training step of each objective with its tokens/s and peak memory at BERT-base size, and a
start of two processes over nccl (where there are two devices) or gloo.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import BertConfig, BertForMaskedLM

from retrolex.backbones import Spec, wrap
from retrolex.backbones.fused import linear_cross_entropy, max_logits
from retrolex.pretraining.batches import BatchMaker, Masking
from retrolex.pretraining.objectives import OBJECTIVES, build
from retrolex.tokens import Chunks, Vocabulary

VOCABULARY, BATCH, LENGTH, STEPS = 30522, 64, 256, 10
WORKER = """
import os, torch
from torch import nn
rank = int(os.environ["RANK"])
backend = "nccl" if torch.cuda.device_count() > 1 else "gloo"
torch.distributed.init_process_group(backend)
device = torch.device("cuda", rank) if backend == "nccl" else torch.device("cpu")
total = torch.ones(1, device=device)
torch.distributed.all_reduce(total)
assert total.item() == 2
print(backend, "ok") if rank == 0 else None
torch.distributed.destroy_process_group()
"""


class RandomTokens:
    """Random token ids, as much of a token cache as `BatchMaker` needs."""

    def __init__(self, count: int):
        self.ids = np.random.default_rng(0).integers(1000, VOCABULARY, count)

    def word_starts(self, places: np.ndarray) -> np.ndarray:
        return np.ones(places.shape, dtype=bool)


def batch_maker(view: str | None, replacement: Any) -> BatchMaker:
    """Full-length random texts."""
    width = LENGTH - 2
    starts = np.arange(8 * BATCH) * width
    vocabulary = Vocabulary(VOCABULARY, 1, 2, 0, 3, (0, 1, 2, 3), (), np.arange(1000, VOCABULARY))
    chunks = Chunks(np.arange(len(starts)), starts, starts + width)
    return BatchMaker(RandomTokens(len(starts) * width), chunks, vocabulary, Masking(0.3, 0.5, replacement, view), 0)


def relative(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Norm of the difference, relative."""
    return ((ours - theirs).norm() / theirs.norm()).item()


def check_fused() -> bool:
    """Fused against full, value and gradients, in float32 on the device."""
    torch.manual_seed(0)
    worst = 0.0
    for kind in ("cross-entropy", "max"):
        shape = (700, 64) if kind == "cross-entropy" else (9, 33, 64)
        ours = [torch.randn(*size, device="cuda", requires_grad=True) for size in (shape, (3001, 64), (3001,))]
        theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
        logits = theirs[0] @ theirs[1].t() + theirs[2]
        if kind == "cross-entropy":
            labels = torch.randint(3001, (700,), device="cuda")
            pair = linear_cross_entropy(*ours, labels), F.cross_entropy(logits, labels)
        else:
            mask = torch.ones(9, 33, dtype=torch.bool, device="cuda")
            pair = max_logits(ours[0], mask, ours[1], ours[2]).square().mean(), logits.amax(1).square().mean()
        for value in pair:
            value.backward()
        errors = [relative(pair[0], pair[1]), *(relative(a.grad, b.grad) for a, b in zip(ours, theirs, strict=True))]
        worst = max(worst, *errors)
    print(f"fused against full: largest relative error {worst:.1e}")
    return worst < 1e-4


def check_training(name: str) -> bool:
    """A few bfloat16 steps of an objective; the loss must fall and stay finite."""
    paper = OBJECTIVES[name]
    torch.manual_seed(0)
    model = BertForMaskedLM(BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    objective: nn.Module = build(name, wrap(model), Spec(document_length=LENGTH), {}).cuda().train()
    maker = batch_maker(objective.decoder_view, paper.replacement)
    optimizer = torch.optim.AdamW(objective.parameters(), lr=1e-4, fused=True)
    batches = [{key: value.cuda() for key, value in maker(np.arange(BATCH) + step % 8 * BATCH, step).items()} for step in range(STEPS)]
    torch.cuda.reset_peak_memory_stats()
    losses = []
    for step, batch in enumerate(batches):
        if step == 2:  # two to warm up
            torch.cuda.synchronize()
            started = time.perf_counter()
        with torch.autocast("cuda", torch.bfloat16):
            loss = objective(batch)["loss"]
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    torch.cuda.synchronize()
    rate = (STEPS - 2) * BATCH * LENGTH / (time.perf_counter() - started)
    peak, values = torch.cuda.max_memory_allocated() / 2**30, torch.stack(losses).tolist()
    print(f"{name:9s} bf16, BERT-base, {BATCH} x {LENGTH}: {rate:10,.0f} tokens/s, peak {peak:.2f} GiB, loss {values[0]:.3f} to {values[-1]:.3f}")
    return bool(np.isfinite(values).all()) and values[-1] < values[0]


def check_processes() -> bool:
    """Two processes start and add up."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "worker.py"
        script.write_text(WORKER, encoding="utf-8")
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    print(f"two processes: {done.stdout.strip() or done.stderr[-300:]}")
    return done.returncode == 0


def check_golden(folder: Path) -> bool:
    """The golden command on the device."""
    script = Path(__file__).parent.parent / "tests" / "shared" / "golden.py"
    done = subprocess.run([sys.executable, str(script), str(folder), "cuda"], capture_output=True, text=True, timeout=90)
    print(done.stdout + done.stderr[-500:], end="")
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=Path, help="folder of golden values")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("no CUDA device here")
        return 1
    print(f"{torch.cuda.get_device_name()}, {torch.cuda.device_count()} device(s), torch {torch.__version__}")
    torch.backends.cuda.matmul.allow_tf32 = False
    passed = [check_fused(), *(check_training(name) for name in OBJECTIVES), check_processes()]
    if options.golden:
        passed.append(check_golden(options.golden))
    print("all passed" if all(passed) else "FAILED")
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main())
