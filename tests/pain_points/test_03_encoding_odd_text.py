"""Pain 3: thousands of long strings without a space make memory grow while they are encoded. Here a document is cut to the model's length."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from tests.tokens.conftest import train

from retrolex.backbones import Spec
from retrolex.encoding import Encoder
from retrolex.encoding.shards import encode_shards


def text(number: int) -> str:
    """Twelve thousand characters without a space, different for each number."""
    return random.Random(number).randbytes(6000).hex()


def test_encoding_needs_no_more_for_many_than_for_some(tiny_model_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("retrolex.encoding.shards.SHARD", 50)
    encoder = Encoder(tiny_model_folder)

    def peak(count: int) -> int:
        (tmp_path / str(count)).mkdir()
        tracemalloc.start()
        encode_shards(count, lambda a, b: [text(number) for number in range(a, b)], encoder.encode, tmp_path / str(count), "test")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(400) < 1.5 * peak(100)


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
def test_whatever_the_tokenizer_a_document_is_cut(kind):
    class Cutting(Encoder):
        def __init__(self) -> None:
            self.tokenizer, self.spec = train(kind), Spec(document_length=24)

    assert all(len(ids) <= 24 for ids in Cutting().tokens([text(number) for number in range(5)], "document"))
