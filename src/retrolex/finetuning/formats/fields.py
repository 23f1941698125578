"""Values out of JSON objects, checked: what every format of JSON lines reads with, and how it writes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from retrolex.collection.readers.jsonl_file import read_objects
from retrolex.collection.readers.records import Place, Reject
from retrolex.errors import UserError
from retrolex.finetuning.formats.rows import Row

REQUIRED = object()
KINDS = {type(None): "null", dict: "an object", list: "a list", bool: "true or false", str: "a text"}


class Fields:
    """One row's object; every look-up raises UserError with the row's place for what is not as expected."""

    def __init__(self, values: dict[str, Any], place: Place):
        self.values, self.place = values, place

    def text(self, *names: str, default: Any = REQUIRED) -> Any:
        """A string under the first of the names that is there."""
        value = self._find(names, default)
        return value if value is default else self.unicode(value, names[0])

    def id(self, *names: str, default: Any = REQUIRED) -> str:
        """An id: a string or a whole number, as a string."""
        value = self._find(names, default)
        return value if value is default else self.as_id(value, names[0])

    def list(self, *names: str, default: Any = REQUIRED) -> list[Any]:
        """A list of anything; null is an empty one."""
        value = self._find(names, default)
        if value is None:
            return []
        if not isinstance(value, list):
            self.refuse(f"{names[0]!r} holds {_kind(value)}, a list was expected")
        return value

    def scores(self, name: str, count: int) -> list[float | None]:
        """As many finite numbers as there are passages; None for each where the field is absent or null."""
        values = self.list(name, default=None) or [None] * count
        if len(values) != count:
            self.refuse(f"{len(values)} scores in {name!r} for {count} passages")
        return [self.number(value, name) for value in values]

    def number(self, value: Any, name: str) -> float | None:
        """A finite number, or null."""
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            self.refuse(f"{name!r} holds {value!r}, a finite number was expected")
        return float(value)

    def as_id(self, value: Any, name: str) -> str:
        """A string or a whole number, as a string."""
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            self.refuse(f"{name!r} holds {_kind(value)}, an id was expected")
        return self.unicode(str(value), name)

    def unicode(self, value: Any, name: str) -> str:
        """A string that UTF-8 can hold."""
        if not isinstance(value, str):
            self.refuse(f"{name!r} holds {_kind(value)}, a text was expected")
        try:
            value.encode()
        except UnicodeEncodeError:
            self.refuse(f"{name!r} holds half of a surrogate pair, which is no Unicode text")
        return value

    def refuse(self, what: str) -> NoReturn:
        """Say what is wrong with the row, and where it stands."""
        raise UserError(what, where=self.place, mend="correct the row, or choose another --format")

    def _find(self, names: tuple[str, ...], default: Any) -> Any:
        for name in names:
            if name in self.values:
                return self.values[name]
        if default is REQUIRED:
            self.refuse(f"no {' or '.join(map(repr, names))} in this row; it has {', '.join(map(repr, self.values)) or 'nothing'}")
        return default


def json_reader(parse: Callable[[Fields], Row]) -> Callable[[Path], Iterator[Row | Reject]]:
    """A reader of JSON lines from a function that makes a row of an object."""

    def read(path: Path) -> Iterator[Row | Reject]:
        for found in read_objects(path):
            yield found if isinstance(found, Reject) else parse(Fields(found.values, found.place))

    return read


def json_writer(plain: Callable[[Row], dict[str, Any]]) -> Callable[[Path, Iterable[Row]], dict[str, int]]:
    """A writer of JSON lines from a function that makes an object of a row."""

    def write(path: Path, rows: Iterable[Row]) -> dict[str, int]:
        count = 0
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            for row in rows:
                file.write(json.dumps(plain(row), ensure_ascii=False) + "\n")
                count += 1
        return {"rows": count}

    return write


def _kind(value: Any) -> str:
    return KINDS.get(type(value), repr(value))
