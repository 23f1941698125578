"""Every shared collection reads as its README says."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from retrolex.collection import Collection, import_collection

SHARED = os.environ.get("RETROLEX_SHARED")
if not SHARED:
    pytest.skip("RETROLEX_SHARED does not name the folder of shared collections", allow_module_level=True)
FOLDERS = sorted(path.parent for path in Path(SHARED, "collections").glob("*/README.md"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_counts_agree_with_the_readme(folder, tmp_path):
    readme = (folder / "README.md").read_text(encoding="utf-8")
    documents, filled = map(int, re.search(r"Documents: (\d+) \((\d+) not empty\)", readme).groups())
    queries = re.search(r"Queries: (\d+) in", readme)
    judgments = {split: int(pairs) for split, pairs in re.findall(r"`qrels/(\w+)\.tsv`: \d+ queries .*?, (\d+) judged pairs", readme)}
    absent = [int(count) for count in re.findall(r"judged documents not in the corpus: (\d+)", readme)]
    counts = import_collection(folder, tmp_path)
    assert counts["documents"] == documents and documents - counts["empty documents"] == filled
    assert counts["queries"] == (int(queries[1]) if queries else 0)
    assert counts["judgments"] == judgments
    assert counts["rejects"] == 0 and bool(counts["warnings"]) == any(absent)
    assert len(Collection.open(tmp_path)) == documents
