"""A finished run's retriever, document by document: id, title, text and vector, read from its index with flat memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from retrolex.artifacts import read_manifest
from retrolex.collection import Collection
from retrolex.encoding.shards import read_shards
from retrolex.errors import UserError
from retrolex.export.form import Form, Terms, Vector, surface_forms, terms_of
from retrolex.export.source import Source
from retrolex.index.lexicon import LexiconIndex
from retrolex.index.passages import PASSAGES
from retrolex.progress import track
from retrolex.search.systems import LEXICON

HUNDREDTHS = 100.0  # what float weights are multiplied by where an engine wants integers


class Row(NamedTuple):
    """One document.

    Attributes:
        position: in the collection, from 0.
        vector: see `Vector`.
    """

    position: int
    id: str
    title: str
    text: str
    vector: Vector


@dataclass(frozen=True)
class Vectors:
    """All documents of a retriever, as often as asked.

    Attributes:
        form: of the vectors.
        collection: the documents.
        blocks: gives the vectors, block by block: CSR [n, terms], or float32 [n, H].
    """

    form: Form
    collection: Collection
    blocks: Callable[[], Iterable[Any]]

    def __len__(self) -> int:
        return len(self.collection)

    def rows(self, label: str = "Exporting") -> Iterator[Row]:
        """The documents with their vectors, in the collection's order.

        Raises:
            UserError: there are more or fewer vectors than documents.
        """
        documents, count = iter(self.collection), 0
        for vector in track(self.vectors(), label, len(self)):
            document = next(documents, None)
            if document is None:
                raise self.uneven(f"more than {count:,}")
            yield Row(count, *document, vector)
            count += 1
        if count < len(self):
            raise self.uneven(f"{count:,}")

    def vectors(self) -> Iterator[Vector]:
        """The vectors alone."""
        for block in self.blocks():
            if self.form.lexicon:
                ends = zip(block.indptr[:-1], block.indptr[1:], strict=True)
                yield from (terms_of(block.indices[a:b], block.data[a:b]) for a, b in ends)
            else:
                yield from np.asarray(block, np.float32).tolist()

    def uneven(self, found: str) -> UserError:
        """The error for an index that is not this collection's."""
        return UserError(f"{found} vectors for {len(self):,} documents", where=self.collection.folder, mend="run `retrolex run` again")

    def largest(self) -> float:
        """The largest weight of all documents; one pass over the index."""
        return max((float(block.data.max()) for block in self.blocks() if block.nnz), default=0.0)

    def multiplier(self, limit: float | None = None) -> float:
        """What weights are multiplied by so that they are integers, none of them above `limit`: 1 where the impacts are that already."""
        plain = 1.0 if self.form.integer else HUNDREDTHS
        largest = self.largest() * plain if limit else 0.0
        return plain if limit is None or largest <= limit else plain * limit / largest


def open_vectors(source: Source) -> Vectors:
    """The vectors of a run's retriever.

    Raises:
        UserError: this is a model without a run, its index holds passages or two-part vectors, or index and collection do not agree.
    """
    if source.run is None or source.index is None:
        raise UserError(
            "this target wants documents, and a model folder has none", where=source.model, mend="name a folder that `retrolex run` wrote"
        )
    collection = Collection.open(source.run / "collection")
    if (source.index / PASSAGES).exists():
        raise UserError("an index of passages: engines are given whole documents", where=source.index, mend="run without `passages` in the recipe")
    if source.spec.representation == "lexicon":
        return lexicon_vectors(source, collection)
    if source.spec.representation == "dense":
        return dense_vectors(source.index, collection)
    raise UserError(f"no engine takes {source.spec.representation!r} vectors", where=source.index, mend="export a dense or lexicon retriever")


def lexicon_vectors(source: Source, collection: Collection) -> Vectors:
    """Term weights, as the lexicon index keeps them."""
    from transformers import AutoTokenizer

    index = LexiconIndex.open(source.index / LEXICON)
    same_documents(index.ids, collection, source.index)
    tokenizer = AutoTokenizer.from_pretrained(source.model)
    if index.terms < len(tokenizer):
        found = f"an index of {index.terms:,} terms for a vocabulary of {len(tokenizer):,}"
        raise UserError(found, where=source.index, mend="run `retrolex run` again")
    return Vectors(Form("lexicon", index.terms, surface_forms(tokenizer, index.terms), index.weights), collection, index.impact_blocks)


def dense_vectors(index: Path, collection: Collection) -> Vectors:
    """Vectors as they were encoded; the index's manifest says where they are."""
    manifest = read_manifest(index) or {}
    folder = index.parent / manifest.get("inputs", {}).get("vectors", {}).get("path", "vectors")
    shards = list(read_shards(folder))
    width, count = shards[0].shape[1], sum(shard.shape[0] for shard in shards)
    if count != len(collection) or any(shard.shape[1] != width for shard in shards):
        raise UserError(f"{count:,} vectors for {len(collection):,} documents", where=folder, mend="run `retrolex run` again")
    return Vectors(Form("dense", width), collection, lambda: read_shards(folder))


def same_documents(ids: list[str], collection: Collection, where: Path) -> None:
    """Refuse an index that was built from other documents.

    Raises:
        UserError: names the first difference.
    """
    if ids == collection.ids:
        return
    first = next((at for at, (one, other) in enumerate(zip(ids, collection.ids, strict=False)) if one != other), min(len(ids), len(collection)))
    raise UserError(
        f"the index has {len(ids):,} documents and the collection {len(collection):,}; they differ from number {first + 1:,} on",
        where=where,
        mend="run `retrolex run` again",
    )


def scaled(vector: Terms, multiplier: float) -> dict[int, int]:
    """Integer weights; those that round to 0 are left out."""
    if multiplier == 1:
        return {column: int(weight) for column, weight in vector.items()}
    rounded = {column: round(weight * multiplier) for column, weight in vector.items()}
    return {column: weight for column, weight in rounded.items() if weight}
