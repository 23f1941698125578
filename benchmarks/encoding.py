"""Documents a second and peak memory of encoding, against sentence-transformers on the same weights and texts.

    python benchmarks/encoding.py --documents 512

Dense: `SentenceTransformer.encode` at its defaults, and in bfloat16 with larger batches (its best backend that installs beside transformers 5;
those for ONNX and OpenVINO do not). Lexicon: `SparseEncoder.encode`. Everybody reads the same texts, cut at the same length. Rounds alternate;
figures are medians of the rounds after a first one that warms up. Peak memory is what a process of its own gains while encoding (Linux only), the
model being loaded already.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from retrolex.backbones import load_backbone, read_spec, resolve_start, save_backbone, write_spec
from retrolex.backbones.heads import fit_head
from retrolex.collection.samples import python_docs
from retrolex.encoding import Encoder
from retrolex.export.sentence_transformers import export_sentence_transformers
from retrolex.export.source import Source

LENGTH = 256
HEAD_TEXTS = 256  # that the LM head is fitted to
NEIGHBOURS = 10


def texts(count: int) -> list[str]:
    """Documents of the built-in collection, spread over it."""
    found = [document.full for document in python_docs.documents()]
    return [found[i] for i in np.linspace(0, len(found) - 1, count).astype(int)]


def contenders(folder: Path) -> dict[str, Callable[[], Callable[[list[str]], Any]]]:
    """Name -> how to load it; loaded, it turns texts into vectors."""

    def ours(name: str) -> Callable[[list[str]], Any]:
        return Encoder(folder / name).encode

    def dense(**options: Any) -> Callable[[list[str]], Any]:
        from sentence_transformers import SentenceTransformer

        batch = options.pop("batch_size", 32)
        model = SentenceTransformer(str(folder / "st-dense"), device="cpu", **options)
        return lambda given: model.encode(given, batch_size=batch, show_progress_bar=False)

    def sparse() -> Callable[[list[str]], Any]:
        from sentence_transformers import SparseEncoder

        model = SparseEncoder(str(folder / "st-lexicon"), device="cpu")
        return lambda given: model.encode(given, show_progress_bar=False)

    return {
        "dense: retrolex": lambda: ours("dense"),
        "dense: SentenceTransformer": dense,
        "dense: SentenceTransformer, bfloat16": lambda: dense(model_kwargs={"torch_dtype": torch.bfloat16}, batch_size=64),
        "lexicon: retrolex": lambda: ours("lexicon"),
        "lexicon: SparseEncoder": sparse,
    }


def prepare(folder: Path) -> None:
    """The same weights in every form: the packaged start, with an LM head fitted to texts of the collection, so that lexicon vectors have terms."""
    from dataclasses import replace

    backbone, tokenizer = load_backbone("minilm", unigrams=None)
    sample = texts(HEAD_TEXTS)
    words = np.concatenate(tokenizer(sample, truncation=True, max_length=LENGTH)["input_ids"])
    fit_head(backbone, tokenizer, sample, np.bincount(words, minlength=backbone.vocabulary_size))
    spec = replace(read_spec(Path(resolve_start("minilm"))), document_length=LENGTH)
    for name in ("dense", "lexicon"):
        save_backbone(backbone, tokenizer, folder / name)
        write_spec(folder / name, replace(spec, representation=name))
        (folder / f"st-{name}").mkdir()
        export_sentence_transformers(Source(folder / name, replace(spec, representation=name)), folder / f"st-{name}")


def peak(folder: Path, name: str, count: int) -> float:
    """Megabytes that encoding adds to a process that has loaded the model."""
    command = [sys.executable, __file__, "--peak", name, "--folder", str(folder), "--documents", str(count)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def measure_peak(folder: Path, name: str, given: list[str]) -> float:
    """See `peak`; runs in the process of its own."""
    encode = contenders(folder)[name]()
    encode(given[:1])
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from here
    before = resident("VmRSS")
    encode(given)
    return resident("VmHWM") - before


def resident(line: str) -> float:
    """Megabytes of this process in memory: now (VmRSS), or at most since the peak was reset (VmHWM)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(row.split()[1]) / 1024 for row in status.splitlines() if row.startswith(line))


def matrix_rate(dtype: torch.dtype) -> float:
    """Multiply-adds a second, as 2 operations each, of one large product: the machine's roofline."""
    a, b = torch.randn(2048, 2048).to(dtype), torch.randn(2048, 2048).to(dtype)
    taken = []
    for _ in range(6):
        started = time.perf_counter()
        a @ b
        taken.append(time.perf_counter() - started)
    return 2 * 2048**3 / min(taken)


def operations(encoder: Encoder, given: list[str]) -> float:
    """Operations of the matrix products that the texts need, padding not counted (some run in 8-bit integers, faster than bfloat16)."""
    lengths = np.array([len(row) for row in encoder.tokens(given, "document")], np.float64)
    config = encoder.backbone.config
    layer = 4 * config.hidden_size**2 + 2 * config.hidden_size * config.intermediate_size
    total = lengths.sum() * config.num_hidden_layers * 2 * layer + config.num_hidden_layers * 4 * config.hidden_size * (lengths**2).sum()
    if encoder.representation == "lexicon":
        total += lengths.sum() * 2 * config.hidden_size * (config.hidden_size + config.vocab_size)
    return float(total)


def neighbours(vectors: Any) -> np.ndarray:
    """The nearest others of each text, by inner product."""
    if isinstance(vectors, torch.Tensor):
        vectors = vectors.to_dense().float().numpy()
    matrix = np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors, np.float32)
    scores = matrix @ matrix.T
    np.fill_diagonal(scores, -np.inf)
    return np.argsort(-scores, axis=1, kind="stable")[:, :NEIGHBOURS]


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    """Share of neighbours that two lists of neighbours have in common."""
    return float(np.mean([len(set(x) & set(y)) / NEIGHBOURS for x, y in zip(a, b, strict=True)]))


def report(folder: Path, given: list[str], rounds: int, memory_documents: int) -> None:
    """Measure and print the table."""
    loaded = {name: load() for name, load in contenders(folder).items()}
    found = {name: neighbours(encode(given)) for name, encode in loaded.items()}  # warms up as well
    seconds: dict[str, list[float]] = {name: [] for name in loaded}
    for _ in range(rounds):
        for name, encode in loaded.items():
            started = time.perf_counter()
            encode(given)
            seconds[name].append(time.perf_counter() - started)
    encoders = {f"{name}: retrolex": Encoder(folder / name) for name in ("dense", "lexicon")}
    dtype = next(encoders["dense: retrolex"].backbone.parameters()).dtype
    rate = matrix_rate(dtype)
    form = str(dtype).removeprefix("torch.")
    print(f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}, median of {rounds} rounds;")
    print(f"{len(given)} documents of python-docs, up to {LENGTH} tokens; retrolex computes in {form}, products run at {rate / 1e9:.0f} GFLOP/s\n")
    print("| contender | documents/s | retrolex is faster by | peak memory | same nearest 10 | share of the matrix rate |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, taken in seconds.items():
        kind = name.split(":")[0]
        mine, median = np.median(seconds[f"{kind}: retrolex"]), np.median(taken)
        share = f"{operations(encoders[name], given) / median / rate:.0%}" if name in encoders else ""
        same = overlap(found[name], found[f"{kind}: retrolex"])
        ratio = "" if name in encoders else f"{median / mine:.1f} ×"
        print(f"| {name} | {len(given) / median:.1f} | {ratio} | {peak(folder, name, memory_documents):,.0f} MB | {same:.3f} | {share} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory-documents", type=int, default=128, help="texts that peak memory is measured on")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if options.peak:
        print(json.dumps(measure_peak(options.folder, options.peak, texts(options.documents))))
    else:
        with tempfile.TemporaryDirectory() as place:
            prepare(Path(place))
            report(Path(place), texts(options.documents), options.rounds, options.memory_documents)
