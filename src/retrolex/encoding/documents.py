"""What an encoder reads of a collection: whole documents, cut at its length, or overlapping windows of the long ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from retrolex.encoding.encoder import Encoder
from retrolex.encoding.shards import encode_shards
from retrolex.errors import UserError
from retrolex.tokens import Tokens, tokenizer_hash, windows
from retrolex.tokens.passages import Passages


def encode_documents(encoder: Encoder, tokens: Tokens, texts: Callable[[int, int], Sequence[str]], folder: Path, label: str) -> dict[str, int]:
    """One vector a document, into shards; the documents' beginnings, where they are longer than the model's length.

    Args:
        encoder: the model.
        tokens: the documents' tokens, used where that comes to the same as tokenising the texts again.
        texts: gives the texts from a position up to, not including, another.
        folder, label: see `encode_shards`, as for the result.
    """
    if encoder.framing.reads(tokens):
        return encode_shards(
            len(tokens), lambda a, b: [encoder.framing.framed(tokens[row]) for row in range(a, b)], encoder.encode_tokens, folder, label
        )
    return encode_shards(len(tokens), texts, encoder.encode, folder, label)


def encode_passages(encoder: Encoder, tokens: Tokens, overlap: int, folder: Path, label: str) -> dict[str, int]:
    """One vector a window of a document, into shards, and which window is whose, into ``passages.npy``.

    Args:
        encoder: the model; its document length is the windows' length.
        tokens: the documents' tokens.
        overlap: tokens that neighbouring windows share.
        folder, label: see `encode_shards`, as for the result.

    Raises:
        UserError: the tokens were made by another tokenizer, or the windows cannot overlap so far.
    """
    if tokens.description["tokenizer"] != tokenizer_hash(encoder.tokenizer):
        raise UserError("the tokens were made by another tokenizer", where=tokens.folder, mend="tokenise the collection again")
    cut = windows(tokens, encoder.framing.room, overlap)
    begin = tokens.offsets[cut.document]
    Passages(cut.document, cut.start - begin, cut.stop - begin, len(tokens)).save(folder)

    def rows(a: int, b: int) -> list[list[int]]:
        return [encoder.framing.framed(tokens.ids[start:stop]) for start, stop in zip(cut.start[a:b], cut.stop[a:b], strict=True)]

    return {"documents": len(tokens), **encode_shards(len(cut.start), rows, encoder.encode_tokens, folder, label)}
