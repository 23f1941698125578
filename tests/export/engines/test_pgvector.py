"""A real PostgreSQL with pgvector: documents copied in, the same rankings out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.export.engines.comparing import assert_same

from retrolex.errors import UserError
from retrolex.export.engines import pgvector
from retrolex.export.engines.pgvector import literal, shown
from retrolex.export.form import Form
from retrolex.export.queries import collection_queries
from retrolex.export.source import Source
from retrolex.export.vectors import open_vectors
from retrolex.index.base import Run


@pytest.mark.slow
@pytest.mark.parametrize("system", ["lexicon", "dense"])
def test_rankings_are_the_embedded_indexs(server, system: str, request: pytest.FixtureRequest, wanted: Callable[[Source, int], Run]) -> None:
    source = request.getfixturevalue(system)
    vectors, url = open_vectors(source), f"{server.get_uri()}#a {system} table"
    assert pgvector.load(vectors, url) == 300
    queries = dict(collection_queries(source, vectors))
    found = dict(zip(queries, pgvector.search(url, vectors.form, list(queries.values()), 50), strict=True))
    exact = system == "lexicon"
    assert_same(found, wanted(source, 50 if exact else 100), exact)
    with pytest.raises(UserError, match="already exists"):
        pgvector.load(vectors, url)


@pytest.mark.slow
@pytest.mark.parametrize("system", ["lexicon", "dense"])
def test_the_files_load_with_psql(server, system: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    source = request.getfixturevalue(system)
    counts = pgvector.export(source, tmp_path)
    server.psql(f"DROP TABLE IF EXISTS retrolex; {(tmp_path / 'schema.sql').read_text()}")
    import psycopg

    with psycopg.connect(server.get_uri()) as connection:
        with connection.cursor().copy("COPY retrolex FROM STDIN") as copy:
            copy.write((tmp_path / "documents.copy").read_bytes())
        stored = connection.execute("SELECT position, id, title, text FROM retrolex ORDER BY position").fetchall()
    assert counts["documents"] == 300
    assert stored == [row[:4] for row in open_vectors(source).rows()]


@pytest.mark.slow
def test_a_failed_load_leaves_nothing(server, lexicon: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, url = open_vectors(lexicon), f"{server.get_uri()}#broken"

    def half(vectors):
        yield 0, "a", "", "", "{1:1}/300"
        raise UserError("no more")

    with monkeypatch.context() as patch:
        patch.setattr(pgvector, "records", half)
        with pytest.raises(UserError, match="no more"):
            pgvector.load(vectors, url)
    assert pgvector.load(vectors, url) == 300
    with pytest.raises(UserError, match="does not exist"):
        pgvector.search(f"{server.get_uri()}#nothing", vectors.form, [{1: 1}], 5)


def test_no_server_is_one_message() -> None:
    pytest.importorskip("psycopg", reason="needs the extra [engines]")
    with pytest.raises(UserError, match="no connection"):
        pgvector.search("postgresql://localhost:1/none", Form("dense", 2), [[1.0, 0.0]], 5)


def test_columns_count_from_one_and_the_width_is_stated() -> None:
    assert literal(Form("lexicon", 10), {0: 3, 9: 250}, "x") == "{1:3,10:250}/10"
    assert literal(Form("lexicon", 10), {}, "x") == "{}/10"
    assert literal(Form("lexicon", 10, weights="float"), {2: 0.1}, "x") == "{3:0.1}/10"
    assert literal(Form("dense", 2), [0.5, -1e-07], "x") == "[0.5,-1e-07]"


def test_more_weights_than_a_sparsevec_holds_are_refused() -> None:
    with pytest.raises(UserError, match="document 'd' has 16,001 weights"):
        literal(Form("lexicon", 30_000), dict.fromkeys(range(16_001), 1), "document 'd'")


def test_passwords_are_not_shown() -> None:
    assert shown("postgresql://me:secret@host:5432/db") == "postgresql://me@host:5432/db"
    assert shown("postgresql://me@host/db") == "postgresql://me@host/db"
    assert shown("postgresql:///db") == "postgresql:///db"
