from __future__ import annotations

import pytest

from retrolex.collection import Document


@pytest.mark.parametrize(("title", "text", "full"), [("A", "b c", "A b c"), ("", "b", "b"), ("A", "", "A"), ("", "", ""), (" ", "\n", "")])
def test_full_joins_title_and_text(title, text, full):
    assert Document("1", title, text).full == full
