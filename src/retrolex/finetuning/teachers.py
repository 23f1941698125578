"""What a cross-encoder thinks of each query and document: scored once, kept on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from retrolex.backbones.cross_encoders import load_cross_encoder
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.pairs import Pair, digest, pseudo_id
from retrolex.progress import track

BLOCK = 2048  # scores that a killed run loses at most
SCHEMA = pa.schema([("query", pa.string()), ("document", pa.string()), ("score", pa.float32())])


class Teacher:
    """Any sentence-transformers ``CrossEncoder`` with one output, and the scores it has given.

    Args:
        model: folder or hub name.
        cache: a folder; scores lie in it below the model's hash, in Arrow files of query id, document id and score.

    Raises:
        UserError: nothing loadable there, or a model of several outputs.
    """

    def __init__(self, model: str | Path, cache: Path):
        self.model = load_cross_encoder(model)
        self.cache = cache / model_hash(self.model)

    def scores(self, pairs: Sequence[Pair], negatives: Sequence[Sequence[Negative]], text: Callable[[str], str]) -> np.ndarray:
        """Scores, before any sigmoid, of each pair's positive and then of its negatives: float32 [pairs, 1 + negatives].

        Args:
            pairs, negatives: as for training; all pairs have the same number of negatives.
            text: full text of a document id.
        """
        rows = [(pair, negative) for pair, found in zip(pairs, negatives, strict=True) for negative in (None, *found)]
        keys = np.fromiter((key(*ids(pair, negative, text)) for pair, negative in rows), np.uint64, len(rows))
        known = self.known()
        missing = np.flatnonzero(~np.isin(keys, known[0]))
        missing = missing[np.unique(keys[missing], return_index=True)[1]]  # every query and document once
        for start in track(range(0, len(missing), BLOCK), "teacher's scores"):
            self.score([rows[i] for i in missing[start : start + BLOCK]], text)
        order, values = self.known()
        return values[np.searchsorted(order, keys)].reshape(len(pairs), -1)

    def score(self, rows: Sequence[tuple[Pair, Negative | None]], text: Callable[[str], str]) -> None:
        """Score some pairs of query and document, and write them down."""
        import torch

        read = [(pair.query, pair.positive if negative is None else text(negative.document)) for pair, negative in rows]
        values = self.model.predict(read, activation_fn=torch.nn.Identity(), show_progress_bar=False)
        queries, documents = zip(*(ids(pair, negative, text) for pair, negative in rows), strict=True)
        self.cache.mkdir(parents=True, exist_ok=True)
        last = max((int(path.stem.rpartition("-")[2]) for path in self.parts()), default=-1)
        path = self.cache / f"scores-{last + 1:05d}.arrow"
        temporary = path.with_suffix(".tmp")
        table = pa.table([queries, documents, np.asarray(values, np.float32)], schema=SCHEMA)
        with pa.ipc.new_file(str(temporary), SCHEMA) as file:
            file.write_table(table)
        os.replace(temporary, path)

    def parts(self) -> Iterator[Path]:
        """Files of scores."""
        yield from sorted(self.cache.glob("scores-?????.arrow"))

    def known(self) -> tuple[np.ndarray, np.ndarray]:
        """Keys in ascending order, uint64, and their scores, float32."""
        keys, values = [np.zeros(0, np.uint64)], [np.zeros(0, np.float32)]
        for path in self.parts():
            with pa.memory_map(str(path)) as source:
                table = pa.ipc.open_file(source).read_all()
                named = zip(table["query"].to_pylist(), table["document"].to_pylist(), strict=True)
                keys.append(np.fromiter((key(query, document) for query, document in named), np.uint64, len(table)))
                values.append(table["score"].to_numpy())
        order = np.argsort(np.concatenate(keys), kind="stable")
        return np.concatenate(keys)[order], np.concatenate(values)[order]


def ids(pair: Pair, negative: Negative | None, text: Callable[[str], str]) -> tuple[str, str]:
    """Query id and document id; a positive that is a part of its document is told from the whole by its words."""
    query = pair.query_id or pseudo_id(pair.query)
    if negative is not None:
        return query, negative.document
    whole = pair.positive == text(pair.document)
    return query, pair.document if whole else f"{pair.document}#{digest(pair.positive) & (1 << 64) - 1:016x}"


def key(query: str, document: str) -> int:
    """64 bits that stand for a query and a document."""
    return int.from_bytes(blake2b(f"{len(query)}:{query}{document}".encode(), digest_size=8).digest(), "little")


def model_hash(model: Any) -> str:
    """16 hexadecimal digits of a cross-encoder's weights and longest input."""
    found = sha256(str(model.tokenizer.model_max_length).encode())
    for name, value in sorted(model.state_dict().items()):
        found.update(name.encode())
        found.update(value.detach().cpu().contiguous().float().numpy().tobytes())
    return found.hexdigest()[:16]
