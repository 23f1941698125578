"""Libraries that read data for us: loaded when they are needed, their errors told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from retrolex.errors import UserError


def library(name: str, where: str) -> ModuleType:
    """An optional package.

    Raises:
        UserError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        mend = f"pip install 'retrolex[{name}]' (or: pip install {name})"
        raise UserError(f"reading this needs the package {name!r}, which does not load here: {error}", where=where, mend=mend) from None


@contextmanager
def errors_of(name: str, where: str, mend: str) -> Iterator[None]:
    """What such a library raises, and it may raise anything, as one UserError."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{name} says: {type(error).__name__}: {' '.join(str(error).split())[:300]}", where=where, mend=mend) from None
