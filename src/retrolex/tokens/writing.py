"""Writing a token cache: block after block, in flat memory, each entered in a journal, so that a killed run loses one block at most."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from retrolex.artifacts import key_of, write_json
from retrolex.errors import UserError
from retrolex.tokens.cache import DESCRIPTION
from retrolex.tokens.cutting import cutter
from retrolex.tokens.flat import FlatFile

JOURNAL = "journal.jsonl"
BATCH, BATCH_CHARACTERS = 1000, 1 << 20  # documents tokenised at a time, fewer where they are long


def tokenizer_hash(tokenizer: Any) -> str:
    """Hash of everything that decides how a fast tokenizer cuts text; truncation and padding are the caller's."""
    return key_of(json.loads(tokenizer.backend_tokenizer.to_str()) | {"truncation": None, "padding": None})


def tokenize(texts: Iterable[str], tokenizer: Any, folder: Path) -> dict[str, int]:
    """Tokenise texts, one row a text, into `folder`; returns the counts of documents, empty ones and tokens.

    What an earlier, killed call left there is kept as far as texts and tokenizer are the same.

    Raises:
        UserError: the tokenizer is a slow one, which knows no words.
    """
    if not tokenizer.is_fast:
        raise UserError("the tokenizer has no fast form, which is needed to know where words start", where=tokenizer.name_or_path)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DESCRIPTION).unlink(missing_ok=True)
    # A truncation that the tokenizer file itself prescribes would cut documents short.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    identity, vocabulary, seen = tokenizer_hash(tokenizer), len(tokenizer), hashlib.sha256()
    cut = cutter(tokenizer)
    with Writer(folder, identity, np.uint16 if vocabulary <= 1 << 16 else np.int32) as writer:
        for block in batches(texts):
            for text in block:
                data = text.encode("utf-8", "surrogatepass")
                seen.update(len(data).to_bytes(8, "little") + data)
            if not writer.has(len(block), seen.hexdigest()):
                writer.add(seen.hexdigest(), *cut(block))
            del block  # before the next one is gathered
        counts = writer.finish()
    write_json(folder / DESCRIPTION, {"tokenizer": identity, "texts": seen.hexdigest(), "vocabulary": vocabulary, "counts": counts})
    (folder / JOURNAL).unlink()
    return counts


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Lists of up to BATCH texts, closed early by BATCH_CHARACTERS."""
    batch, characters = [], 0
    for text in texts:
        batch.append(text)
        characters += len(text)
        if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


class Writer:
    """The cache's three arrays, and the journal: the tokenizer's hash, then a line a block that states what the arrays hold after it.

    Args:
        folder: where; what an earlier writer left there is taken over block by block (`has`).
        identity: hash of the tokenizer.
        dtype: of the ids.
    """

    def __init__(self, folder: Path, identity: str, dtype: type):
        self.identity, self.path, self.journal = identity, folder / JOURNAL, None
        self.files = [FlatFile(folder / name, kind) for name, kind in (("ids.npy", dtype), ("offsets.npy", np.int64), ("starts.npy", np.uint8))]
        self.states: list[dict[str, Any]] = [{"documents": 0, "empty": 0, "tokens": 0, "texts": "", "bits": ""}]
        self.earlier = self.entries()

    def entries(self) -> list[dict[str, Any]]:
        """An earlier writer's states, the oldest first; none where it had another tokenizer."""
        lines = self.path.read_bytes().split(b"\n")[:-1] if self.path.exists() else []  # what follows the last line end is half a line
        if not lines or lines[0] != self.identity.encode():
            return []
        states = [json.loads(line) for line in lines[1:]]
        return [state for state in states if all(file.held() >= length for file, length in zip(self.files, lengths_after(state), strict=True))]

    def __enter__(self) -> Writer:
        return self

    def has(self, documents: int, texts: str) -> bool:
        """Take the next block over from the earlier writer, if it had the same.

        Args:
            documents: of the block.
            texts: hash of all texts up to its end.
        """
        if not self.earlier or (self.earlier[0]["documents"], self.earlier[0]["texts"]) != (self.states[-1]["documents"] + documents, texts):
            self.earlier = []
            return False
        self.states.append(self.earlier.pop(0))
        return True

    def begin(self) -> None:
        """Cut the files back to what is taken over, and open them for more."""
        taken = len(self.states) > 1
        for file, length in zip(self.files, lengths_after(self.states[-1]), strict=True):
            file.open(length if taken else 0)
        if not taken:
            self.files[1].append(np.zeros(1))
        self.journal = open(self.path, "wb")  # noqa: SIM115 (closed by `__exit__`)
        self.journal.write(self.identity.encode() + b"\n" + b"".join(json.dumps(state).encode() + b"\n" for state in self.states[1:]))

    def add(self, texts: str, ids: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> None:
        """Append a block (see `Cut`), and then enter it in the journal."""
        if self.journal is None:
            self.begin()
        state = self.states[-1]
        bits = np.concatenate([unwritten(state), starts])
        whole = len(bits) // 8 * 8
        for file, values in zip(self.files, (ids, state["tokens"] + np.cumsum(lengths), np.packbits(bits[:whole])), strict=True):
            file.append(values)
            file.flush()
        state = {
            "documents": state["documents"] + len(lengths),
            "empty": state["empty"] + int((lengths == 0).sum()),
            "tokens": state["tokens"] + len(ids),
            "texts": texts,
            "bits": "".join("1" if bit else "0" for bit in bits[whole:]),
        }
        self.states.append(state)
        self.journal.write(json.dumps(state).encode() + b"\n")
        self.journal.flush()

    def finish(self) -> dict[str, int]:
        """Write the last, partly filled byte and the headers; returns the counts."""
        if self.journal is None:
            self.begin()
        if len(rest := unwritten(self.states[-1])):
            self.files[2].append(np.packbits(rest))
        for file in self.files:
            file.finish()
        return {name: self.states[-1][name] for name in ("documents", "empty", "tokens")}

    def __exit__(self, *error: object) -> None:
        for file in (*self.files, self.journal):
            if file is not None:
                file.close()


def lengths_after(state: dict[str, Any]) -> tuple[int, int, int]:
    """Values that ids, offsets and starts hold in a state; of the starts, whole bytes only."""
    return state["tokens"], state["documents"] + 1, state["tokens"] // 8


def unwritten(state: dict[str, Any]) -> np.ndarray:
    """The word-start bits that do not fill a byte yet; bool."""
    return np.array([bit == "1" for bit in state["bits"]], dtype=bool)
