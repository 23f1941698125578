"""The files that every exported model folder has: configuration, weights and tokenizer, in Hugging Face's form."""

from __future__ import annotations

from pathlib import Path

from retrolex.backbones import load_backbone
from retrolex.backbones.checkpoint import quiet
from retrolex.backbones.tokenizer_files import save_tokenizer
from retrolex.export.source import Source


def write_masked_lm(source: Source, folder: Path) -> int:
    """Save model and tokenizer so that ``AutoModelForMaskedLM`` and ``AutoTokenizer`` load them; returns the vocabulary's size."""
    backbone, tokenizer = load_backbone(source.model)
    with quiet():
        backbone.model.save_pretrained(folder)
    save_tokenizer(tokenizer, folder)
    return backbone.vocabulary_size


def write_encoder(source: Source, folder: Path) -> int:
    """Save the encoder without its LM head, as ``AutoModel`` loads it, and the tokenizer; returns the hidden size."""
    backbone, tokenizer = load_backbone(source.model)
    with quiet():
        backbone.model.base_model.save_pretrained(folder)
    save_tokenizer(tokenizer, folder)
    return backbone.hidden_size
