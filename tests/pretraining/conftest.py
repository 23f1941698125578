"""A tiny random masked LM of every family, and a token cache of a few sentences."""

from __future__ import annotations

import pytest
import torch

from retrolex.backbones import load_backbone, wrap
from retrolex.collection import Document
from retrolex.pretraining.batches import BatchMaker, Masking
from retrolex.tokens import Tokens, Vocabulary, chunk, tokenize

FAMILIES = ("bert", "roberta", "xlm-roberta", "distilbert", "modernbert")


SENTENCES = [
    "The wing of an aircraft carries the load of the fuselage in steady flight.",
    "Vitamin D and calcium help to keep bones strong in old age.",
    "Read a file line by line with a loop over the open file object.",
    "A hash table maps keys to values in constant time on average.",
    "Bread rises when yeast turns sugar into carbon dioxide gas.",
]


def random_backbone(family: str, vocabulary: Vocabulary):
    """A random backbone of a family: 2 layers of width 32."""
    from transformers import AutoConfig, AutoModelForMaskedLM

    torch.manual_seed(0)
    common = {"vocab_size": vocabulary.size, "pad_token_id": vocabulary.pad, "max_position_embeddings": 80}
    if family == "distilbert":
        config = AutoConfig.for_model(family, dim=32, n_layers=2, n_heads=2, hidden_dim=64, **common)
    else:
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
        extra = {"cls_token_id": vocabulary.first, "sep_token_id": vocabulary.last, "bos_token_id": vocabulary.first, "eos_token_id": vocabulary.last}
        config = AutoConfig.for_model(family, **sizes, **common, **(extra if family == "modernbert" else {}))
    return wrap(AutoModelForMaskedLM.from_config(config)).eval()


def some_documents(count: int = 60) -> list[Document]:
    """Documents with a title and three sentences, each with a word of its own."""
    return [
        Document(str(row), f"On item{row} and {row * 7}", " ".join(SENTENCES[(row + k) % len(SENTENCES)] + f" Item{row * 3 + k}." for k in range(3)))
        for row in range(count)
    ]


@pytest.fixture(scope="session")
def start(tiny_model_folder):
    """A function that loads the tiny BERT and its tokenizer, anew each time; the tokenizer frames texts as BERT's does."""
    from tokenizers.processors import TemplateProcessing

    def load():
        backbone, tokenizer = load_backbone(tiny_model_folder)
        frame = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("[CLS]", "[SEP]")]
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=frame)
        return backbone, tokenizer

    return load


@pytest.fixture(scope="session")
def tokenizer(start):
    return start()[1]


@pytest.fixture(scope="session")
def vocabulary(tokenizer):
    return Vocabulary.of(tokenizer)


@pytest.fixture(scope="session")
def documents():
    return some_documents()


@pytest.fixture(scope="session")
def tokens(tokenizer, documents, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokens")
    tokenize((document.full for document in documents), tokenizer, folder)
    return Tokens.open(folder)


@pytest.fixture(scope="session")
def maker(tokens, vocabulary):
    """A function from a decoder view to a BatchMaker."""

    def make(view, replacement="80-10-10"):
        chunks = chunk(tokens, 40, vocabulary.sentence_ends)
        return BatchMaker(tokens, chunks, vocabulary, Masking(0.3, 0.5, replacement, view), seed=1)

    return make


@pytest.fixture(scope="session", params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture(scope="session")
def tiny(vocabulary):
    """A function from a family's name to a random backbone of it."""
    return lambda family: random_backbone(family, vocabulary)


@pytest.fixture
def backbone(family, tiny):
    return tiny(family)
