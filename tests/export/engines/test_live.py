"""The door: targets by name, engines loaded and searched from the command line, queries for every engine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.export.engines.servers import serving
from tests.export.engines.test_bulk import Search
from tests.export.engines.test_qdrant import Edge
from typer.testing import CliRunner

from retrolex.artifacts import read_manifest
from retrolex.cli import app as _  # noqa: F401 (registers the verbs)
from retrolex.cli.app import app
from retrolex.encoding import two_part
from retrolex.errors import UserError
from retrolex.export import MODELS, TARGETS, export
from retrolex.export.live import BACKENDS, backend, open_backend
from retrolex.export.queries import QUERIES, query_for
from retrolex.search.searcher import Searcher

QUESTION = "dioxide bread aircraft"


def invoke(*arguments: object) -> str:
    """Standard output of the command."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("target", [target for target in TARGETS if target not in MODELS])
def test_every_engine_target_writes_a_folder(target: str, run_folder: Path, tmp_path: Path) -> None:
    counts = export(target, run_folder, tmp_path / "out", "lexicon")
    assert counts["documents"] == 300
    manifest = read_manifest(tmp_path / "out")
    assert manifest["inputs"]["index"]
    assert (tmp_path / "out" / "README.md").exists()
    first = manifest["hash"]
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest | {"key": ""}))
    export(target, run_folder, tmp_path / "out", "lexicon")
    assert read_manifest(tmp_path / "out")["hash"] == first


def test_bits_are_for_some_targets(run_folder: Path, tmp_path: Path) -> None:
    assert export("ciff", run_folder, tmp_path / "ciff", "lexicon", bits=8)["scale"] < 100
    with pytest.raises(UserError, match="no choice of bits"):
        export("opensearch", run_folder, tmp_path / "out", "lexicon", bits=8)
    assert not (tmp_path / "out").exists()


def test_a_refused_export_leaves_nothing(run_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="searches by terms"):
        export("pisa", run_folder, tmp_path / "out", "dense")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("system", ["lexicon", "dense"])
@pytest.mark.parametrize("name", ["opensearch", "elasticsearch", "qdrant"])
def test_an_engine_answers_as_the_run_does(name: str, system: str, run_folder: Path, tmp_path: Path) -> None:
    server = Edge(tmp_path) if name == "qdrant" else Search(name)
    with serving(server.answer) as url:
        said = invoke("export", name, run_folder, "--system", system, "--to", f"{url}/my-docs")
        assert "documents 300" in said
        asked = ["search", run_folder, QUESTION, "--system", system, "--json"]
        found = json.loads(invoke(*asked, "--backend", name, f"{url}/my-docs"))
    own = json.loads(invoke(*asked))
    assert len(own) == 10
    for one, other in zip(found, own, strict=True):
        assert one.pop("score") == pytest.approx(other.pop("score"), abs=1e-5)
        assert one == other


@pytest.mark.slow
@pytest.mark.parametrize("system", ["lexicon", "dense"])
def test_postgres_answers_as_the_run_does(server, system: str, run_folder: Path) -> None:
    url = f"{server.get_uri()}#live {system}"
    invoke("export", "pgvector", run_folder, "--system", system, "--to", url)
    searcher, name = open_backend(run_folder, "pgvector", url, system)
    found = searcher.search(QUESTION, 10, name)
    own = Searcher.open(run_folder).search(QUESTION, 10, system)
    assert [answer.id for answer in found] == [answer.id for answer in own]
    assert [answer.score for answer in found] == pytest.approx([answer.score for answer in own], abs=1e-5)


def test_a_run_with_two_models_asks_which(run_folder: Path) -> None:
    with pytest.raises(UserError, match="more than one model"):
        open_backend(run_folder, "qdrant", "http://localhost/docs")


def test_an_engine_that_cannot_be_loaded_lists_those_that_can() -> None:
    with pytest.raises(UserError, match="opensearch, elasticsearch, qdrant, pgvector"):
        backend("vespa")


@pytest.mark.parametrize("options", [[], ["--output", "x", "--to", "y"]])
def test_exports_go_to_one_place(options: list[str], run_folder: Path) -> None:
    with pytest.raises(UserError, match="where should it go"):
        invoke("export", "qdrant", run_folder, *options)


def test_every_engine_of_a_search_has_queries() -> None:
    assert set(BACKENDS) <= set(QUERIES)


@pytest.mark.parametrize("target", QUERIES)
def test_query_for_gives_the_impacts_of_the_text(target: str, run_folder: Path) -> None:
    encoder = two_part.open_encoder(run_folder / "lexicon" / "model", "lexicon")
    weights = np.floor(np.float32(100) * encoder.encode([QUESTION], "query").toarray()[0]).astype(int)
    names = encoder.tokenizer.convert_ids_to_tokens(range(len(weights)))
    wanted = {names[column]: int(weights[column]) for column in np.flatnonzero(weights)}
    query = query_for(target, QUESTION, encoder, 7)
    if target in ("anserini", "pisa"):
        assert {word: query.split(" ").count(word) for word in query.split(" ")} == wanted
    elif target == "seismic":
        assert dict(zip(query["query_components"].tolist(), query["query_values"].tolist(), strict=True)) == wanted
    elif target == "pgvector":
        sql, parameters = query
        assert parameters["k"] == 7
        assert parameters["vector"].count(":") == len(wanted)
        assert "%(vector)s::sparsevec" in sql
    elif target == "vespa":
        assert json.loads(query["yql"].partition("wand(terms, ")[2].removesuffix("))")) == wanted
    elif target == "milvus":
        assert {names[int(column)]: weight for column, weight in query["data"][0].items()} == wanted
    elif target == "qdrant":
        assert {names[column]: weight for column, weight in zip(*query["query"].values(), strict=True)} == wanted
    else:
        body = query["query"]
        tokens = body["neural_sparse"]["terms"]["query_tokens"] if target == "opensearch" else body["sparse_vector"]["query_vector"]
        dotted = {term for term in wanted if "." in term}
        assert {term: round(weight * 100) for term, weight in tokens.items() if not term.startswith("[")} == {
            term: weight for term, weight in wanted.items() if term not in dotted
        }
        assert all(weight == value / 100 for weight, value in zip(tokens.values(), wanted.values(), strict=True))


def test_query_for_knows_its_targets(run_folder: Path) -> None:
    with pytest.raises(UserError, match="no queries are made for 'onnx'"):
        query_for("onnx", "x", None)
