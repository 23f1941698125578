"""A TREC run is one whatever its second column holds."""

from __future__ import annotations

import pytest

from retrolex.evaluation.runs import read_run


@pytest.mark.parametrize("column", ["Q0", "q0", "0", "1", "iter"])
def test_any_second_column(tmp_path, column):
    (tmp_path / "run").write_text(f"1 {column} d1 1 2.0 x\n", encoding="utf-8")
    assert read_run(tmp_path / "run") == {"1": [("d1", 2.0)]}
