"""Our objectives compute the published implementations' numbers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

SHARED = os.environ.get("RETROLEX_SHARED")
if not SHARED:
    pytest.skip("RETROLEX_SHARED names no folder of golden values", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).parent))
import golden  # noqa: E402


@pytest.mark.parametrize("path", sorted(Path(SHARED, "golden").glob("*.safetensors")), ids=lambda path: path.stem)
def test_golden_values(path):
    errors = golden.check(path)
    assert errors, "nothing of ours answers to this file"
    for what, error in errors.items():
        assert error <= (golden.LOSS_TOLERANCE if what.startswith("loss") else golden.TENSOR_TOLERANCE), (what, error)


def test_an_empty_folder_fails(tmp_path):
    assert golden.main(tmp_path) == 1
