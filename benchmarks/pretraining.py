"""Pre-training steps, end to end, against the published recipe restated and against pretense where it is installed.

    python benchmarks/pretraining.py                                     RetroMAE and LexMAE, MiniLM and BERT-base size, lengths 128 and 512
    python benchmarks/pretraining.py --sizes minilm --lengths 128        one corner of that

Every peer runs in a process of its own, so that its peak memory is its own, and all take turns, one step each. A step is masks and
batch, forward, backward, AdamW. All texts have the full length, so that nothing is gained by batching texts of like length.
Before timing, our loss and the restatement's are computed from the same weights and masks in float32; they must agree.
Needs the `demo` extra for a tokenizer.
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
from typing import Any, NamedTuple

SIZES = {"minilm": (6, 384, 12), "base": (12, 768, 12)}  # layers, width, heads
TOKENS = 4096  # a batch
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
        self.peer, self.objective_name, self.bf16, self.batch = peer, objective, bf16, max(1, TOKENS // length)
        tokenizer = AutoTokenizer.from_pretrained(resolve_start("minilm"))
        self.vocabulary = Vocabulary.of(tokenizer)
        self.texts = Texts(tokenizer, 8 * self.batch, length)
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

    def numbers(self, step: int) -> Any:
        import numpy as np

        return (np.arange(self.batch) + step * self.batch) % len(self.texts.rows)

    def make(self, step: int) -> dict[str, Any]:
        """The batch of a step, as this peer makes it."""
        numbers = self.numbers(step)
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

    def step(self, step: int) -> tuple[float, float]:
        """Seconds for the batch, and for the whole step."""
        started = time.perf_counter()
        batch = self.make(step)
        made = time.perf_counter()
        self.loss(batch).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return made - started, time.perf_counter() - started

    def check(self) -> tuple[float, float]:
        """Loss and gradient norm of batch 0 as `BatchMaker` makes it, from the initial weights."""
        import torch

        loss = self.loss(self.maker(self.numbers(0), 0))
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


def operations(objective: str, size: str, length: int, vocabulary: int = 30522) -> float:
    """Operations in the matrix products of one of our steps, forward and backward."""
    layers, width, _ = SIZES[size]
    texts = max(1, TOKENS // length)
    positions, text = texts * length, texts * (length - 2)
    decoder_layers, labelled = (1, 0.3 + 1.0) if objective == "retromae" else (2, 0.3 + 0.5)
    layer = 6 * positions * 12 * width**2 + 12 * positions * length * width
    vocabulary_products = 6 * labelled * text * width * (vocabulary + width)
    pooling = 2 * text * width * vocabulary + 6 * positions * width**2 if objective == "lexmae" else 0
    return (layers + decoder_layers) * layer + vocabulary_products + pooling


class Result(NamedTuple):
    """What one peer in one dtype took."""

    seconds: list[float]  # of whole steps
    share: float  # of making the batch
    peak: float  # GB

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def race(names: list[str], objective: str, size: str, length: int, bf16: bool, repeats: int, threads: int) -> dict[str, Result]:
    """Let the peers take turns in one dtype; in float32 they must first agree on the loss."""
    peers = {name: Peer(name, objective, size, length, bf16, threads) for name in names}
    if not bf16:
        (ours, norm), (theirs, other) = peers["retrolex"].call("check"), peers["published"].call("check")
        print(f"same weights, same masks: loss {ours:.5f} and {theirs:.5f}, gradient norm {norm:.5f} and {other:.5f}")
        if abs(ours - theirs) > 1e-3 or abs(norm / other - 1) > 1e-3:
            raise SystemExit("the restatement computes another loss than ours")
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for step in range(repeats + 1):
        for name, peer in peers.items():
            times = peer.call("step", step)
            if step:  # the first is a warm-up
                taken[name].append(times)
    results = {}
    for name, peer in peers.items():
        share = statistics.median(made / total for made, total in taken[name])
        results[name] = Result([total for _, total in taken[name]], share, peer.call("peak"))
        peer.close()
    return results


def compare(objective: str, size: str, length: int, repeats: int, threads: int, rates: dict[bool, float]) -> None:
    """Print one table."""
    names = [name for name in PEERS if name != "pretense" or (objective == "retromae" and importlib.util.find_spec("pretense"))]
    print(f"\n{objective}, {size}, {max(1, TOKENS // length)} x {length} tokens")
    results = {bf16: race(names, objective, size, length, bf16, repeats, threads) for bf16 in (False, True)}
    print(f"{'':18s} {'s/step':>7s} {'min-max':>13s} {'tokens/s':>9s} {'batch':>6s} {'GB':>6s} {'x slower':>9s} {'x memory':>9s}  matrix rate")
    for bf16, by_name in results.items():
        ours = by_name["retrolex"]
        for name, result in by_name.items():
            label, spread = f"{name} {'bf16' if bf16 else 'float32'}", f"{min(result.seconds):.2f}-{max(result.seconds):.2f}"
            figures = f"{result.median:7.2f} {spread:>13s} {TOKENS / result.median:9.0f} {result.share:6.1%} {result.peak:6.2f}"
            rate = operations(objective, size, length) / result.median / rates[bf16] if name == "retrolex" else None
            of = "" if rate is None else f"  {rate:.0%} of {rates[bf16] / 1e9:.0f} GFLOP/s"
            print(f"{label:18s} {figures} {result.median / ours.median:9.2f} {result.peak / ours.peak:9.2f}{of}")
    best = {name: min((results[bf16][name] for bf16 in results), key=lambda result: result.median) for name in names}
    for name in names[1:]:
        for kind, theirs in (("each in its best dtype", best[name]), (f"{name} in float32, ours in its best", results[False][name])):
            ratio, memory = theirs.median / best["retrolex"].median, theirs.peak / best["retrolex"].peak
            print(f"{kind}: {ratio:.2f} times as fast as {name}, 1/{memory:.1f} of its memory")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objectives", nargs="+", default=["retromae", "lexmae"], choices=["retromae", "lexmae"])
    parser.add_argument("--sizes", nargs="+", default=["minilm", "base"], choices=list(SIZES))
    parser.add_argument("--lengths", nargs="+", type=int, default=[128, 512])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    import torch
    import transformers

    versions = {"torch": torch.__version__, "transformers": transformers.__version__, "python": platform.python_version()}
    print(f"{platform.machine()} {platform.processor()}, {os.cpu_count()} cores, {options.threads} threads, {json.dumps(versions)}")
    print(f"batches of {TOKENS} tokens, dropout off, 1 warm-up, median of {options.repeats}")
    rates = {bf16: matrix_rate(bf16, options.threads) for bf16 in (False, True)}
    for objective in options.objectives:
        for size in options.sizes:
            for length in options.lengths:
                compare(objective, size, length, options.repeats, options.threads, rates)


if __name__ == "__main__":
    main()
