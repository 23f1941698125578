"""Tokenizers on disk, in words that transformers 4.57 and 5 both read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from retrolex.artifacts import write_json

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

FILE = "tokenizer_config.json"
CLASSES = {"TokenizersBackend": "PreTrainedTokenizerFast"}  # names that version 5 writes -> what both know the same class by


def save_tokenizer(tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Write a folder's tokenizer.

    transformers 5 names a tokenizer without a family's class, and lists special tokens beyond the usual ones, in a way that 4.57 refuses;
    it still understands the way of 4.57.
    """
    tokenizer.save_pretrained(folder)
    stated = json.loads((folder / FILE).read_text(encoding="utf-8"))
    stated["tokenizer_class"] = CLASSES.get(stated["tokenizer_class"], stated["tokenizer_class"])
    if isinstance(stated.get("extra_special_tokens"), list):
        stated["additional_special_tokens"] = stated.pop("extra_special_tokens")
    write_json(folder / FILE, stated)
