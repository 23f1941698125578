"""Pain 31: a machine without Java cannot search or measure. Here nothing asks for a Java machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import retrolex

CODE = """
import sys
from retrolex.evaluation.evaluate import evaluate
from retrolex.index.bm25 import BM25Index
assert evaluate({"q": [("d", 1.0)]}, {"q": {"d": 1}}).mean("nDCG@10") == 1
assert not {"jnius", "jpype", "py4j"} & set(sys.modules)
"""


def test_without_any_program_on_the_path(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JAVA", "JDK", "JRE", "JVM"))}
    environment |= {"PATH": str(tmp_path), "PYTHONPATH": str(Path(retrolex.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
