"""The one exception a user is meant to read."""

from __future__ import annotations

from pathlib import Path


class UserError(Exception):
    """Something the user can mend. The command line prints it and exits with code 2, without a traceback.

    Args:
        what: what was found, and what was expected instead.
        where: a file, or ``file:line``, when the fault lies in one.
        mend: what to do about it.
    """

    def __init__(self, what: str, *, where: str | Path | None = None, mend: str | None = None):
        self.what, self.where, self.mend = what, where, mend
        place = f"{where}: " if where is not None else ""
        advice = f"\n  To mend it: {mend}" if mend else ""
        super().__init__(f"{place}{what}{advice}")
