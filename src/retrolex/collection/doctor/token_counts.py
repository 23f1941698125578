"""How long a text is for a model: counted by its tokenizer, without loading the model or its library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from retrolex.errors import UserError
from retrolex.starts import PACKAGED, not_installed, packaged_start
from retrolex.words import spans

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DEFAULT = "minilm"
WORDS = "words"


@dataclass(frozen=True)
class TokenCounter:
    """Counts tokens.

    Attributes:
        name: what it goes by, for the reader.
        specials: tokens that a model's input has besides those of the text ([CLS] and [SEP]).
        count: texts -> their lengths in tokens, specials left out.
    """

    name: str
    specials: int
    count: Callable[[list[str]], list[int]]

    @property
    def unit(self) -> str:
        """What is counted."""
        return "words" if self.name == WORDS else "tokens"


def token_counter(name: str | None = None) -> TokenCounter:
    """The counter of this name: a checkpoint's folder, a hub name, `minilm`, or `words`.

    Without a name it is minilm's where that is installed, else words: runs of letters and digits, and in scripts that are
    written without spaces characters or stretches (`retrolex.words`).

    Raises:
        UserError: there is no such tokenizer.
    """
    start = name or DEFAULT
    folder = packaged_start(start) if start in PACKAGED else None
    if folder is not None:
        return _of_file(start, folder / "tokenizer.json")
    if name in (WORDS, None):
        return TokenCounter(WORDS, 0, lambda texts: [len(spans(text)) for text in texts])
    if name in PACKAGED:
        raise not_installed(name, "name another tokenizer")
    file = Path(name).expanduser() / "tokenizer.json"
    return _of_file(name, file) if file.is_file() else _of_transformers(name)


def _of_file(name: str, file: Path) -> TokenCounter:
    from tokenizers import Tokenizer

    try:
        return _of(name, Tokenizer.from_file(str(file)))
    except Exception as error:  # what the library raises has no class of its own
        raise UserError(f"not a tokenizer: {str(error)[:200]}", where=file, mend="name a checkpoint's folder, a hub name, or `words`") from None


def _of_transformers(name: str) -> TokenCounter:
    from transformers import AutoTokenizer

    mend = "name a checkpoint's folder, a hub name, `minilm`, or `words`"
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise UserError(f"no tokenizer: {str(error).strip().splitlines()[0][:200]}", where=name, mend=mend) from None
    if not tokenizer.is_fast:
        raise UserError("the tokenizer has no fast form", where=name, mend=mend)
    return _of(name, tokenizer.backend_tokenizer)


def _of(name: str, tokenizer: Tokenizer) -> TokenCounter:
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(texts: list[str]) -> list[int]:
        return [len(encoding.ids) for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    return TokenCounter(name, tokenizer.num_special_tokens_to_add(False), count)
