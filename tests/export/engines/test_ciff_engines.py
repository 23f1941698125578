"""The common index file format in real engines, PISA and BMP: the same ranking as the embedded index, or as the file's own numbers."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from math import ceil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.export.engines.ciff_twin import read_ciff

from retrolex.export.ciff import export_pisa
from retrolex.export.source import Source
from retrolex.index.base import Run

DEPTH = 50
ALGORITHMS = ("block_max_wand", "maxscore")


def pisa() -> ModuleType:
    """PISA's engine out of the package of PyTerrier's plug-in, which itself is not imported: it wants PyTerrier and a Java."""
    package = find_spec("pyterrier_pisa")
    if package is None or package.origin is None:
        pytest.skip("needs PISA: pip install --no-deps pyterrier_pisa tbb==2020.3.254 (5 MB)")
    [library] = Path(package.origin).parent.glob("_pisathon*.so")
    spec = spec_from_file_location("_pisathon", library)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_inverted(ciff: Path, folder: Path, engine: ModuleType) -> None:
    """What `ciff2pisa` does: PISA's uncompressed inverted index, 32-bit numbers, each list preceded by its length, and the two lexicons."""
    _, lists, records = read_ciff(ciff)
    folder.mkdir()
    documents, weights = [1, len(records)], []
    for postings in lists.values():
        documents += [len(postings), *postings]
        weights += [len(postings), *postings.values()]
    for name, numbers in {"docs": documents, "freqs": weights, "sizes": [len(records), *(length for _, length in records)]}.items():
        np.array(numbers, np.uint32).tofile(folder / f"inv.{name}")
    for name, lines, made in (("terms", lists, "termlex"), ("documents", (id for id, _ in records), "doclex")):
        (folder / f"fwd.{name}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        engine.build_binlex(str(folder / f"fwd.{name}"), str(folder / f"fwd.{made}"))


def read_queries(path: Path) -> dict[str, dict[str, float]]:
    """Query id -> term -> how often it is repeated."""
    queries: dict[str, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        id, _, words = line.partition(":")
        queries[id] = {word: float(words.split(" ").count(word)) for word in dict.fromkeys(words.split(" "))}
    return queries


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_pisa_ranks_as_the_embedded_index(algorithm: str, lexicon: Source, wanted: Callable[[Source, int], Run], tmp_path: Path) -> None:
    engine = pisa()
    counts = export_pisa(lexicon, tmp_path)
    index = tmp_path / "pisa"
    write_inverted(tmp_path / "index.ciff", index, engine)
    assert (engine.num_terms(str(index)), engine.num_docs(str(index))) == (counts["lists"], 300)
    context = engine.RetrievalContext()
    engine.prepare_index(context, str(index), "block_simdbp", "quantized", "", quantize=0)
    asked, depth = read_queries(tmp_path / "queries.txt"), 300  # all that score: PISA orders equal scores as it likes
    room = len(asked) * depth
    numbers, names = np.empty(room, np.int32), np.empty(room, object)
    ranks, scores = np.empty(room, np.int32), np.empty(room, np.float32)
    found = {"result_qidxs": numbers, "result_docnos": names, "result_ranks": ranks, "result_scores": scores}
    size = engine.retrieve(context, algorithm, list(enumerate(asked.values())), k=depth, query_weighted=1, pretokenised=True, **found)
    run: Run = {id: [] for id in asked}
    for number, name, score in zip(numbers[:size].tolist(), names[:size], scores[:size].tolist(), strict=True):
        run[list(asked)[number]].append((name, score))
    own = wanted(lexicon, depth)
    assert len(own) == 100 and all(not own[id] for id in own.keys() - run.keys())  # those without terms find nothing on either side
    for id, hits in run.items():
        assert [score for _, score in hits] == [score for _, score in own[id]]
        assert dict(hits) == dict(own[id])


def test_bmp_gives_the_files_scores(lexicon: Source, tmp_path: Path) -> None:
    """BMP takes 8 bits a weight, and makes of a query's weights numbers up to 32: the largest 32, the others rounded up.

    What it returns is looked at, not what it leaves out. Asked for all 300 documents, version 0.2.8 returned at most 288 in the six queries
    that were looked at; the ten best were right, the fifty best not all. Why is not known.
    """
    bmp = pytest.importorskip("bmp", reason="needs BMP: pip install bmp (1 MB)")
    export_pisa(lexicon, tmp_path, bits=8)
    _, lists, records = read_ciff(tmp_path / "index.ciff")
    bmp.ciff2bmp(ciff_file=str(tmp_path / "index.ciff"), output=str(tmp_path / "index.bmp"), bsize=32, compress_range=False)
    searcher = bmp.Searcher(str(tmp_path / "index.bmp"))
    for terms in read_queries(tmp_path / "queries.txt").values():
        names, scores = searcher.search(terms, k=DEPTH, alpha=1.0, beta=1.0)
        coarse = {term: ceil(weight * 32 / max(terms.values())) for term, weight in terms.items()}
        sums = [sum(weight * lists.get(term, {}).get(place, 0) for term, weight in coarse.items()) for place in range(len(records))]
        found = dict(zip((id for id, _ in records), sums, strict=True))
        assert [found[name] for name in names] == scores == sorted(scores, reverse=True) and names
