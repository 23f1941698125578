"""When two rankings are one."""

from __future__ import annotations

import pytest

from retrolex.index.base import Run

NOISE = 1e-5  # what 32-bit sums in another order may differ by


def assert_same(found: Run, own: Run, exact: bool) -> None:
    """The same documents in the same order with the same scores; dense ones to rounding, which may swap neighbours.

    Args:
        found: what the engine gave.
        own: what the embedded index gives, deeper than `found` where scores are rounded.
        exact: whether scores are integers.
    """
    assert list(found) == list(own)
    if exact:
        assert found == own
        return
    for query, hits in found.items():
        scores = dict(own[query])
        assert [score for _, score in hits] == pytest.approx([score for _, score in own[query][: len(hits)]], abs=NOISE)
        assert [scores[id] for id, _ in hits] == pytest.approx([score for _, score in own[query][: len(hits)]], abs=NOISE)
        assert len({id for id, _ in hits}) == len(hits)
