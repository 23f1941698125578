"""The table of pains and the tests beside it say the same."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
ROW = re.compile(r"^\| (\d+) \| .+ \| .+ \| `(test_(?:\d\d_)+\*\.py)` \|$", re.MULTILINE)


def test_fifty_pains_each_with_its_tests():
    rows = ROW.findall((HERE / "README.md").read_text(encoding="utf-8"))
    assert [int(number) for number, _ in rows] == list(range(1, 51))
    assert not [pattern for number, pattern in rows if f"_{int(number):02}_" not in pattern or not list(HERE.glob(pattern))]


def test_every_test_is_named_by_a_number():
    others = {Path(__file__).name}
    assert not [path.name for path in HERE.glob("*.py") if path.name not in others and not re.match(r"test_\d\d_", path.name)]
