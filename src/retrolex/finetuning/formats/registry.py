"""The formats by name."""

from __future__ import annotations

from retrolex.errors import UserError
from retrolex.finetuning.formats import flag_embedding, msmarco, retrolex_rows, sbert, sentence_transformers, tevatron
from retrolex.finetuning.formats.rows import Format

FORMATS: dict[str, Format] = {
    "retrolex": retrolex_rows.FORMAT,
    "sentence-transformers": sentence_transformers.FORMAT,
    "tevatron": tevatron.IDS,
    "tevatron-passages": tevatron.PASSAGES,
    "flagembedding": flag_embedding.FORMAT,
    "sbert": sbert.FORMAT,
    "msmarco-ids": msmarco.IDS,
    "msmarco-texts": msmarco.TEXTS,
}


def format_of(name: str) -> Format:
    """The format of this name.

    Raises:
        UserError: there is none.
    """
    if name not in FORMATS:
        raise UserError(f"no format of training rows is called {name!r}", mend=f"choose one of {', '.join(FORMATS)}")
    return FORMATS[name]
