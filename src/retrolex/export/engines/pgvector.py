"""PostgreSQL with pgvector 0.7 or newer: a table with a ``sparsevec`` (columns from 1) or ``vector`` column, searched exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

from retrolex.errors import UserError
from retrolex.export.engines.results import Hit, best
from retrolex.export.form import Form, Vector
from retrolex.export.source import Source
from retrolex.export.vectors import Row, Vectors, open_vectors

TABLE = "retrolex"
MOST = 16_000  # non-zero weights of a sparsevec, and components of a vector
ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
README = """# For PostgreSQL with pgvector

{documents:,} documents as `{type}`, in the order of the collection (`position`).

    psql -f schema.sql -c "\\copy retrolex FROM documents.copy"

`schema.sql` makes no index: searches compare every row and are exact.
`retrolex.export.queries.query_for("pgvector", text, encoder)` gives SQL and parameters.
"""


def export(source: Source, folder: Path) -> dict[str, Any]:
    """Write ``schema.sql`` and ``documents.copy``; returns counts for the manifest.

    Raises:
        UserError: there are no documents.
    """
    vectors = open_vectors(source)
    column = column_type(vectors.form)
    (folder / "schema.sql").write_text(f"CREATE EXTENSION IF NOT EXISTS vector;\n{schema(vectors.form, TABLE)};\n", encoding="utf-8")
    with open(folder / "documents.copy", "w", encoding="utf-8", newline="\n") as file:
        for row in records(vectors):
            file.write("\t".join(str(value).translate(ESCAPES) for value in row) + "\n")
    counts = {"documents": len(vectors), "type": column}
    (folder / "README.md").write_text(README.format(**counts), encoding="utf-8")
    return counts


def column_type(form: Form) -> str:
    """The vectors' type.

    Raises:
        UserError: they have more components than pgvector takes.
    """
    if form.lexicon:
        return f"sparsevec({form.width})"
    if form.width > MOST:
        raise UserError(f"vectors of {form.width:,} components; pgvector takes up to {MOST:,}", mend="export to another engine")
    return f"vector({form.width})"


def schema(form: Form, table: str) -> str:
    """The statement that makes the table; `table` is a quoted or plain identifier."""
    columns = "position integer PRIMARY KEY, id text NOT NULL UNIQUE, title text NOT NULL, text text NOT NULL"
    return f"CREATE TABLE {table} ({columns}, vector {column_type(form)} NOT NULL)"


def records(vectors: Vectors) -> Iterator[tuple[int, str, str, str, str]]:
    """The rows of the table. PostgreSQL's text holds no NUL character: U+FFFD stands for it."""
    for row in vectors.rows():
        title, text = (value.replace("\0", "\ufffd") for value in (row.title, row.text))
        yield row.position, checked_id(row), title, text, literal(vectors.form, row.vector, f"document {row.id!r}")


def checked_id(row: Row) -> str:
    """The document's id.

    Raises:
        UserError: PostgreSQL cannot hold it.
    """
    if "\0" in row.id:
        raise UserError(f"the id {row.id!r} has a NUL character in it, which PostgreSQL cannot hold", mend="give the document another id")
    return row.id


def literal(form: Form, vector: Vector, name: str) -> str:
    """A vector as pgvector reads it: ``{1:3,7:2}/30522`` or ``[0.1,0.2]``.

    Raises:
        UserError: more weights than a sparsevec holds.
    """
    if isinstance(vector, list):
        return f"[{','.join(f'{value:.9g}' for value in vector)}]"
    if len(vector) > MOST:
        found = f"{name} has {len(vector):,} weights; pgvector takes up to {MOST:,}"
        raise UserError(found, mend="keep a document's largest weights: `top_k` in the recipe")
    return f"{{{','.join(f'{column + 1}:{weight:.9g}' for column, weight in vector.items())}}}/{form.width}"


def query(form: Form, vector: Vector, k: int = 10, table: str = TABLE) -> tuple[str, dict[str, Any]]:
    """SQL that gives id, position and score, and its parameters, as psycopg takes them; equal scores in the collection's order."""
    distance = f"vector <#> %(vector)s::{'sparsevec' if form.lexicon else 'vector'}"
    found = f" WHERE {distance} < 0" if form.lexicon else ""
    sql = f"SELECT id, position, -({distance}) AS score FROM {table}{found} ORDER BY {distance}, position LIMIT %(k)s"
    return sql, {"vector": literal(form, vector, "the query"), "k": k}


def load(vectors: Vectors, url: str) -> int:
    """Make and fill the table in one transaction: it is there whole or not at all. Returns the number of documents.

    Args:
        vectors: the documents.
        url: ``postgresql://user@host/database#table``; the table is called ``retrolex`` when not given.

    Raises:
        UserError: psycopg is not installed, no server, the table is there already, or pgvector is not.
    """
    with connected(url) as (connection, table):
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(schema(vectors.form, table))
        with connection.cursor().copy(f"COPY {table} (position, id, title, text, vector) FROM STDIN") as copy:
            for row in records(vectors):
                copy.write_row(row)
        [count] = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    if count != len(vectors):
        raise vectors.uneven(f"{count:,}")
    return count


def search(url: str, form: Form, queries: Sequence[Vector], k: int) -> list[list[tuple[str, float]]]:
    """The best `k` documents of each query.

    Raises:
        UserError: psycopg is not installed, no server, or no such table.
    """
    with connected(url) as (connection, table):
        found = [connection.execute(*query(form, vector, k, table)).fetchall() for vector in queries]
    return [best((Hit(*row) for row in rows), k) for rows in found]


class connected:
    """A connection in a transaction, and the quoted name of the table; what the server refuses becomes a `UserError`."""

    def __init__(self, url: str):
        try:
            import psycopg
        except ImportError:
            raise UserError("psycopg is not installed", mend="pip install 'retrolex[engines]'") from None
        self.refused = psycopg.Error
        self.url, table = urldefrag(url)
        self.table = '"' + (table or TABLE).replace('"', '""') + '"'
        self.open = psycopg.connect

    def __enter__(self) -> tuple[Any, str]:
        try:
            self.connection = self.open(self.url)
        except self.refused as error:
            raise UserError(
                f"no connection: {first_line(error)}", where=shown(self.url), mend="check that the server runs, and the address"
            ) from None
        self.connection.__enter__()
        return self.connection, self.table

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.connection.__exit__(kind, error, trace)
        if isinstance(error, self.refused):
            mend = "name another table: postgresql://HOST/DATABASE#TABLE, or drop this one; searches want one that `retrolex export pgvector` filled"
            raise UserError(f"PostgreSQL says: {first_line(error)}", where=shown(self.url), mend=mend) from None


def first_line(error: BaseException) -> str:
    """An error's first line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def shown(url: str) -> str:
    """An address without the password."""
    before, at, after = url.rpartition("@")
    return (before[: before.find(":", before.find("//") + 2)] if before.count(":") > 1 else before) + at + after
