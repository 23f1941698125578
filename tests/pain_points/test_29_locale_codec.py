"""Pain 29: files are read in the system's encoding. Here they are UTF-8 whatever the locale says, and other bytes cost one listed row."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import retrolex
from retrolex.collection import Collection

ROWS = '{"_id": "1", "text": "“smart” \u009d quotes"}\n'.encode() + b'{"_id": "2", "text": "\x93windows\x94"}\n'


def test_the_locale_plays_no_part(tmp_path):
    (tmp_path / "corpus.jsonl").write_bytes(ROWS)
    code = "import sys; from retrolex.collection import import_collection as go; go(sys.argv[1], sys.argv[2])"
    environment = os.environ | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "LANG": "C"}
    environment["PYTHONPATH"] = str(Path(retrolex.__file__).parents[1])
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "corpus.jsonl"), str(tmp_path)], env=environment, check=True, capture_output=True)
    assert [document.text for document in Collection.open(tmp_path)] == ["“smart” \u009d quotes"]
    rejects = [json.loads(line) for line in (tmp_path / "rejects.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rejects == [{"file": "corpus.jsonl", "line": 2, "reason": "bytes that are not UTF-8"}]
