"""Documents, queries and judgments: read from any format people have, kept as one memory-mapped folder."""

from retrolex.collection.collection import Collection
from retrolex.collection.documents import Document, Judgment, Qrels, Queries, Query
from retrolex.collection.fingerprint import source_fingerprint
from retrolex.collection.importing import import_collection

__all__ = ["Collection", "Document", "Judgment", "Qrels", "Queries", "Query", "import_collection", "source_fingerprint"]
