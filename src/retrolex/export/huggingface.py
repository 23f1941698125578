"""A plain Hugging Face masked-LM folder, for everything that starts from one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from retrolex.backbones import write_spec
from retrolex.export.card import model_card
from retrolex.export.model_files import write_masked_lm
from retrolex.export.source import Source

USAGE = """
from transformers import AutoModelForMaskedLM, AutoTokenizer

model = AutoModelForMaskedLM.from_pretrained("FOLDER")
tokenizer = AutoTokenizer.from_pretrained("FOLDER")
"""


def export_huggingface(source: Source, folder: Path) -> dict[str, Any]:
    """Write the folder; returns counts for the manifest."""
    vocabulary = write_masked_lm(source, folder)
    write_spec(folder, source.spec)
    (folder / "README.md").write_text(model_card(source, USAGE), encoding="utf-8")
    return {"vocabulary": vocabulary}
