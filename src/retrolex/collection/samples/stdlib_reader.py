"""Prints the documentation of the standard library of the interpreter that runs it, as JSON lines [id, title, text].

This file is run as a program, alone, in an isolated interpreter (``python -I -S``): importing several hundred modules
leaves nothing behind in the caller, and packages installed beside the standard library cannot change what is read.
It therefore uses the standard library only. `python_docs` describes the rules from the reader's side.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import pkgutil
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

# Not part of the documented library, or nothing but a second name for it (posix and nt for os, posixpath for os.path).
# `antigravity` opens a browser and `this` prints when imported.
EXCLUDED = {
    "antigravity", "this", "idlelib", "lib2to3", "turtledemo", "test", "pydoc_data", "distutils", "msilib",
    "posix", "nt", "posixpath", "ntpath", "genericpath", "nturl2path", "pyexpat", "sre_compile", "sre_constants", "sre_parse",
}  # fmt: skip
# There with one build of Python and absent from the next; a thousand near-identical widget methods would drown the rest.
WIDGETS = {"tkinter", "turtle"}
TABLES = {"encodings"}  # packages whose submodules are data
BOILERPLATE = re.compile(
    r"An enumeration\.|Alias for field number \d+|Structure/Union member|Initialize self\.  See help\(type\(self\)\) for accurate signature\."
)
WORDS = (bool, int, float, str, bytes, type(None))

Home = tuple[str, str]  # the public module and the name under which a person would write an object


def modules() -> dict[str, types.ModuleType]:
    """Every public module that imports here, by the name one imports it by, in name order."""
    found: dict[str, types.ModuleType] = {}
    for name in sorted(sys.stdlib_module_names):
        if not name.startswith("_") and name not in EXCLUDED | WIDGETS:
            load(name, found)
    found["os.path"] = os.path
    return dict(sorted(found.items()))


def load(name: str, found: dict[str, types.ModuleType]) -> None:
    """Import one module and the public submodules below it; what this build or platform lacks is left out."""
    try:
        module = importlib.import_module(name)
    except Exception:
        return
    found[name] = module
    if name in TABLES:
        return
    for _, child, _ in sorted(pkgutil.iter_modules(getattr(module, "__path__", ())), key=lambda entry: entry[1]):
        if not child.startswith("_") and child not in ("test", "tests"):
            load(f"{name}.{child}", found)


def is_routine(value: Any) -> bool:
    """Whether a module's attribute is a function of any make, also behind ``functools.lru_cache``."""
    return inspect.isroutine(value) or isinstance(value, functools._lru_cache_wrapper)


def exposures(found: dict[str, types.ModuleType]) -> dict[int, tuple[Any, list[Home]]]:
    """Each class and function that public modules offer, with every (module, name) that offers it."""
    offered: dict[int, tuple[Any, list[Home]]] = {}
    for module_name, module in found.items():
        for name in sorted(getattr(module, "__all__", None) or vars(module)):
            value = getattr(module, name, None)
            if not name.startswith("_") and (inspect.isclass(value) or is_routine(value)):
                offered.setdefault(id(value), (value, []))[1].append((module_name, name))
    return offered


def home(value: Any, places: list[Home], found: dict[str, types.ModuleType]) -> Home | None:
    """The one place that an object is filed under, or None when no module means to offer it.

    Builtins come first, then the package that lists an object of its own submodule in ``__all__`` (``asyncio.run``, not
    ``asyncio.runners.run``), then the module that defines it, then any module that lists it, then any that has it.
    """
    defined = getattr(value, "__module__", None) or ""

    def rank(place: Home) -> tuple[Any, ...]:
        module, name = place
        listed = bool(getattr(found[module], "__all__", None))
        renamed = name != getattr(value, "__name__", name)
        if module == "builtins":
            kinship = 0
        elif listed and defined.startswith(module + "."):
            kinship = 1
        elif module == defined:
            kinship = 2
        elif listed:
            kinship = 3
        else:
            kinship = 4
        return kinship, module != defined.lstrip("_"), renamed, module.count("."), module, name

    best = min(places, key=rank)
    leaked = rank(best)[0] == 4 and (defined in found or defined.partition(".")[0] not in sys.stdlib_module_names)
    return None if leaked else best


def text_of(value: Any) -> str:
    """An object's own docstring without its indentation; empty when it has none that says something.

    A class that says nothing itself may let its constructor speak, as ``concurrent.futures.ThreadPoolExecutor`` does.
    """
    if not inspect.isclass(value):
        return cleaned(getattr(value, "__doc__", None))
    text = cleaned(value.__doc__ if "__doc__" in vars(value) else None)
    if "\n" not in text and text.startswith(value.__name__ + "(") and text.endswith(")"):
        text = ""  # what dataclasses and named tuples write by themselves
    return text or cleaned(vars(value)["__init__"].__doc__ if callable(vars(value).get("__init__")) else None)


def cleaned(docstring: Any) -> str:
    """A docstring without indentation, or nothing where it is absent or written by a machine."""
    text = inspect.cleandoc(docstring) if isinstance(docstring, str) else ""
    return "" if BOILERPLATE.fullmatch(text) else text


def signature_of(value: Any) -> str:
    """The parameters in brackets, without annotations; empty when the interpreter does not know them."""
    try:
        signature = inspect.signature(value)
    except (ValueError, TypeError, NameError, AttributeError):
        return ""
    parameters = [parameter.replace(annotation=parameter.empty, default=default_of(parameter.default)) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


class Elided:
    """A default value whose text is long, or would differ from run to run."""

    def __repr__(self) -> str:
        return "..."


def default_of(value: Any) -> Any:
    """A parameter's default as a title shows it."""
    plain = value is inspect.Parameter.empty or value == () or (type(value) in WORDS and len(repr(value)) <= 40)
    return value if plain and not (isinstance(value, str) and os.path.isabs(value)) else Elided()


def title_of(name: str, value: Any) -> str:
    """A heading such as ``class datetime.date`` or ``json.dumps(obj, *, skipkeys=False, ...)``."""
    if inspect.ismodule(value):
        return f"module {name}"
    if inspect.isclass(value):
        return f"{'exception' if issubclass(value, BaseException) else 'class'} {name}{signature_of(value)}"
    return f"{name}{signature_of(value)}" if is_routine(value) else f"attribute {name}"


def adoptions(classes: list[type], homes: dict[int, str]) -> dict[int, type]:
    """For each private base class the public class that tells what it defines: its namesake, or the one nearest to it."""
    heirs: dict[int, tuple[type, list[type]]] = {}
    for cls in classes:
        for base in cls.__mro__[1:]:
            if id(base) not in homes:
                heirs.setdefault(id(base), (base, []))[1].append(cls)

    def distance(base: type, cls: type) -> tuple[bool, int, int, str]:
        return cls.__name__ != base.__name__.lstrip("_"), len(cls.__mro__), len(homes[id(cls)]), homes[id(cls)]

    return {key: min(candidates, key=functools.partial(distance, base)) for key, (base, candidates) in heirs.items()}


def members(cls: type, homes: dict[int, str], nearest: dict[int, type]) -> Iterator[tuple[str, Any, str]]:
    """(name, object, docstring) of what a class itself brings, or adopts: methods, properties, nested classes."""
    own = [cls, *(base for base in cls.__mro__[1:] if nearest.get(id(base)) is cls)]
    others = [base for base in cls.__mro__ if base not in own and base is not object]
    names = sorted({name for base in own for name in vars(base) if not name.startswith("_")})
    for name in names:
        raw = next(vars(base)[name] for base in own if name in vars(base))
        value = raw.__func__ if isinstance(raw, (classmethod, staticmethod)) else raw
        if not (inspect.isclass(value) or is_routine(value) or inspect.isdatadescriptor(value) or isinstance(value, functools.cached_property)):
            continue
        text = next(filter(None, (text_of(vars(base)[name]) for base in own if name in vars(base))), "")
        if text and text not in [text_of(vars(base)[name]) for base in others if name in vars(base)]:
            yield name, value, text


def documents() -> Iterator[tuple[str, str, str]]:
    """(id, title, text) of every document, in no particular order; an object with several names comes once."""
    found = modules()
    homes: dict[int, str] = {}
    classes, routines = [], []
    for value, places in exposures(found).values():
        place = home(value, places, found)
        if place is not None:
            homes[id(value)] = place[1] if place[0] == "builtins" else ".".join(place)
            (classes if inspect.isclass(value) else routines).append(value)
    told: set[int] = set()
    for name, module in found.items():
        yield name, title_of(name, module), text_of(module)
    for value in routines:
        yield homes[id(value)], title_of(homes[id(value)], value), text_of(value)
        owner = getattr(value, "__self__", None)
        if owner is not None and not inspect.ismodule(owner):  # random.choice is a method of a hidden random.Random
            hidden = inspect.getattr_static(owner, value.__name__, None)
            told.update((id(hidden), id(getattr(hidden, "__func__", hidden))))
        told.add(id(value))
    for cls in classes:
        for base in cls.__mro__[1:]:  # socket.SocketType is what socket.socket is made of, not a class of its own
            if base.__name__ == cls.__name__ and homes.get(id(base), "").rpartition(".")[0] == homes[id(cls)].rpartition(".")[0]:
                del homes[id(base)]
    classes = [cls for cls in classes if id(cls) in homes]
    nearest = adoptions(classes, homes)
    pending = sorted(classes, key=lambda cls: (homes[id(cls)].count("."), homes[id(cls)]))  # str before collections.UserString
    while pending:
        cls = pending.pop(0)
        prefix = homes[id(cls)]
        yield prefix, title_of(prefix, cls), text_of(cls)
        for name, value, text in members(cls, homes, nearest):
            if inspect.isclass(value):
                if id(value) not in homes:
                    homes[id(value)] = f"{prefix}.{name}"
                    pending.append(value)
            elif id(value) not in told:
                told.add(id(value))
                yield f"{prefix}.{name}", title_of(f"{prefix}.{name}", value), text


def main() -> None:
    """Write the documents that say something, sorted by id, one JSON line each."""
    with open(os.dup(1), "w", encoding="utf-8") as lines:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what modules print when imported, in C too, is no document
        unique: dict[str, tuple[str, str, str]] = {}
        for document in documents():
            if document[2]:
                unique.setdefault(document[0], document)
        for name in sorted(unique):
            lines.write(json.dumps(unique[name]) + "\n")


if __name__ == "__main__":
    main()
