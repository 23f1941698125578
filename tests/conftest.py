"""What every test may ask for: no network, few threads, and a masked LM small enough to train in a test."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("shared-machine", deadline=None)  # how long one example takes says more of the machine than of the code
settings.load_profile("shared-machine")

SENTENCES = [
    "The wing of an aircraft carries the load of the fuselage in steady flight.",
    "Vitamin D and calcium help to keep bones strong in old age.",
    "Read a file line by line with a loop over the open file object.",
    "Round a number to two decimals with the built-in function round.",
    "The climate has warmed because carbon dioxide traps heat in the air.",
    "A hash table maps keys to values in constant time on average.",
    "Bread rises when yeast turns sugar into carbon dioxide gas.",
    "The river floods the plain each spring when the snow melts.",
]


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes are named by their number: gzip writes the time into its own, and processes that share the tests must agree on their names."""
    return f"{len(val)}-bytes" if isinstance(val, bytes) else None


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tests run on few cores, and thread counts change sums in the last bits."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT masked LM (2 layers of width 32) with its own WordPiece tokenizer, in a folder."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    from retrolex.tokens.train_tokenizer import train_wordpiece

    folder = tmp_path_factory.mktemp("tiny-bert")
    tokenizer = train_wordpiece(SENTENCES, 300, max_length=64)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        pad_token_id=tokenizer.pad_token_id,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
