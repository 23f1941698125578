"""What the doctor finds in the small shared collections; every finding was looked up by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from retrolex.collection.doctor import examine
from retrolex.collection.doctor.token_counts import token_counter

SHARED = os.environ.get("RETROLEX_SHARED")
if not SHARED:
    pytest.skip("RETROLEX_SHARED does not name the folder of shared collections", allow_module_level=True)

SAME_ID = "queries and documents with the same id"
FINDINGS = {
    "cisi": {"duplicate documents": 2, "queries without judgments": 36, SAME_ID: 112},
    "cranfield": {"empty documents": 2, SAME_ID: 225},
    "climate-fever-evidence": {
        "text encoded twice": 4,
        "control characters (Windows-1252 in UTF-8)": 1,
        "byte order marks inside texts": 3,
        "test queries that stand among the documents": 1,
        "judged queries without a relevant document": 474,
        "duplicate queries": 1,
    },
    "cosqa": {},
    "drcd-zh": {"duplicate queries": 1},
}


@pytest.mark.parametrize("name", FINDINGS)
def test_findings(name):
    report = examine(Path(SHARED, "collections", name), counter=token_counter("words"), length=100_000)
    assert {finding.name: finding.count for finding in report.findings} == FINDINGS[name]


def test_languages():
    shares = {
        name: examine(Path(SHARED, "collections", name), counter=token_counter("words")).languages for name in ("drcd-zh", "squad-it", "cranfield")
    }
    assert shares["drcd-zh"] == {"chinese": 1}
    assert shares["squad-it"]["italian"] > 0.99
    assert shares["cranfield"]["english"] > 0.99
