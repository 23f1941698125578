"""The probe curve of a pre-training run, as markdown: python benchmarks/probe_curve.py RUN_FOLDER > curve.md"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(folder: Path) -> None:
    """Print a row a probe, of every retriever that was pre-trained in the run."""
    logs = sorted(folder.glob("**/logs/probe.jsonl"))
    if not logs:
        sys.exit(f"no logs/probe.jsonl below {folder}")
    for log in logs:
        rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        terms = list(rows[0]["held_out"])
        print(f"\n{log.parent.parent.relative_to(folder).as_posix()}: BM25 finds the same known items with RR@10 {rows[0]['bm25']['RR@10']:.3f}\n")
        print("| step |", " | ".join(f"held-out {term}" for term in terms), "| dense RR@10 | lexicon RR@10 | mean cosine | density |")
        print("| ---: |", " | ".join("---:" for _ in terms), "| ---: | ---: | ---: | ---: |")
        for row in rows:
            losses = " | ".join(f"{row['held_out'][term]:.3f}" for term in terms)
            ranks = f"{row['dense']['RR@10']:.3f} | {row['lexicon']['RR@10']:.3f}"
            print(f"| {row['step']} | {losses} | {ranks} | {row['cosine']:.3f} | {row['density']:.4f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
