"""One table of several finished runs, as markdown: python benchmarks/results.py RUN_FOLDER ... > table.md"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from retrolex.artifacts import read_manifest

HEADER = "| collection | system | nDCG@10 | RR@10 | R@100 | against BM25 (nDCG@10) | index | ms/query |"


def main(folders: list[str]) -> None:
    """Print the table."""
    print(HEADER)
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for folder in map(Path, folders):
        records = json.loads((folder / "evaluate" / "results.json").read_text(encoding="utf-8"))["records"]
        counts = read_manifest(folder / "collection")["counts"]
        for system in dict.fromkeys(record["system"] for record in records):
            print(row(folder, counts, [record for record in records if record["system"] == system]))


def row(folder: Path, counts: dict, records: list[dict]) -> str:
    """One system of one run."""
    first = records[0]
    place = f"{folder.name} ({counts['documents']:,} documents, {first['queries']:,} queries)" if first["against"] is None else ""
    figures = [f"{record['mean']:.3f} [{record['low']:.3f}, {record['high']:.3f}]" for record in records]
    against = "" if first["against"] is None else f"{first['change_mean']:+.3f} [{first['change_low']:+.3f}, {first['change_high']:+.3f}]"
    against += " *" if first["significant"] else ""
    size = f"{first['index_bytes'] / 1e6:.1f} MB"
    return "| " + " | ".join([place, first["system"], *figures, against, size, f"{first['ms_per_query']:.1f}"]) + " |"


if __name__ == "__main__":
    main(sys.argv[1:])
