"""How fast a collection is tokenised: the token cache against the plain loop `tokenizer(text)`.

    python benchmarks/tokens.py
    python benchmarks/tokens.py --tokenizer FOLDER --text notes.txt

Prints documents a second of both, their ratio, and the peak memory, as JSON. By default the text is synthetic: words of a fixed
vocabulary of 50,000 with Zipf's frequencies. The plain loop reads a sample, the cache everything; both see the same texts first.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate, islice
from pathlib import Path

from transformers import AutoTokenizer

from retrolex.artifacts import sha256, versions
from retrolex.backbones import resolve_start
from retrolex.tokens import Tokens, tokenize

VOCABULARY = 50_000  # different words
PARTS = ["an", "ber", "col", "dis", "en", "flo", "gra", "in", "ment", "o", "per", "re", "ser", "tion", "ul", "ver", "wa", "ing", "ex", "ed"]


def words(count: int) -> list[str]:
    """Made-up words, the short ones first, as in a language: numbers spelled in syllables."""
    found = []
    for number in range(1, count + 1):
        word = ""
        while number:
            number, syllable = divmod(number, len(PARTS))
            word += PARTS[syllable]
        found.append(word)
    return found


def synthetic(documents: int, length: int) -> Iterator[str]:
    """Documents of so many words, in sentences, the same at every call."""
    rng, vocabulary = random.Random(1), words(VOCABULARY)
    weights = list(accumulate(1 / rank for rank in range(1, len(vocabulary) + 1)))
    for _ in range(documents):
        chosen = rng.choices(vocabulary, cum_weights=weights, k=length)
        chosen[9::12] = [word + "." for word in chosen[9::12]]
        chosen[5::25] = [word.capitalize() + "," for word in chosen[5::25]]
        yield " ".join(chosen)


def lines(path: Path, documents: int) -> Iterator[str]:
    """The first lines of a file."""
    with open(path, encoding="utf-8") as file:
        yield from islice((line.rstrip("\n") for line in file), documents)


def timed(work) -> tuple[float, float]:
    """Wall-clock seconds, and seconds of all cores."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=150, help="a document, of synthetic text")
    parser.add_argument("--text", type=Path, help="a file with one document a line, instead of synthetic text")
    parser.add_argument("--tokenizer", default="minilm", help="`minilm`, a folder, or a hub name")
    parser.add_argument("--sample", type=int, default=500, help="documents that the plain loop reads, three times")
    options = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(resolve_start(options.tokenizer))
    texts = list(lines(options.text, options.documents) if options.text else synthetic(options.documents, options.words))
    sample = texts[: options.sample]
    [tokenizer(text)["input_ids"] for text in sample[:50]]  # warm-up
    loop = sorted(timed(lambda: [tokenizer(text)["input_ids"] for text in sample]) for _ in range(3))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = timed(lambda: tokenize(texts, tokenizer, Path(folder)))
        tokens = Tokens.open(Path(folder))
        for row, text in enumerate(sample):
            if tokens[row].tolist() != tokenizer(text, add_special_tokens=False)["input_ids"]:
                sys.exit(f"document {row} differs")
        counts, bytes_ = tokens.description["counts"], sum(path.stat().st_size for path in Path(folder).iterdir())
        digest = sha256(Path(folder) / "ids.npy")
    unit = 1 if sys.platform == "darwin" else 1024
    plain, plain_cpu = (len(sample) / seconds for seconds in loop[1])
    cached, cached_cpu = len(texts) / wall, len(texts) / cpu
    report = {
        "tokenizer": options.tokenizer,
        "text": str(options.text or f"synthetic, {options.words} words a document"),
        "documents": len(texts),
        "tokens": counts["tokens"],
        "seconds": round(wall, 2),
        "processor seconds": round(cpu, 2),
        "documents a second": round(cached),
        "plain loop, documents a second": round(plain),
        "plain loop, spread of three": [round(len(sample) / seconds) for seconds, _ in reversed(loop)],
        "ratio": round(cached / plain, 1),
        "ratio by processor time": round(cached_cpu / plain_cpu, 1),
        "bytes a token on disk": round(bytes_ / max(1, counts["tokens"]), 2),
        "memory grown by MiB": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit / 2**20),
        "ids": digest[:16],
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "machine": platform.processor() or platform.machine(),
        "versions": versions(("tokenizers", "transformers", "numpy")),
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
