"""Collections that come with the package: text that is already on the reader's machine, with questions and judgments.

A sample is a module with three functions: ``documents()`` yields every `Document`, ``queries()`` gives the question texts
by query id, and ``qrels()`` gives the judgments by split ("test", "dev").
"""

from __future__ import annotations

from types import ModuleType

from retrolex.collection.samples import python_docs

SAMPLES: dict[str, ModuleType] = {"python-docs": python_docs}

__all__ = ["SAMPLES"]
