"""Pain 33: `pip install pytrec_eval` downloads source while it builds. Here the measures come from pytrec-eval-terrier, which has wheels."""

from __future__ import annotations

import re
from importlib import metadata


def plain(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_trec_eval_comes_as_a_wheel():
    assert list(map(plain, metadata.packages_distributions()["pytrec_eval"])) == ["pytrec-eval-terrier"]


def test_no_dependency_is_an_address_or_the_source_only_package():
    required = metadata.requires("retrolex") or []
    assert "pytrec-eval" not in {plain(re.match(r"[\w.-]+", line)[0]) for line in required}
    assert not [line for line in required if "@" in line.partition(";")[0]]
