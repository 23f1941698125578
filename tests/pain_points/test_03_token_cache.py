"""Pain 3: thousands of long strings without a space make memory grow. Here the token cache needs no more for many than for some."""

from __future__ import annotations

import random
import tracemalloc

from retrolex.tokens import tokenize


def test_the_token_cache_of_long_strings_without_a_space(tiny_model_folder, tmp_path):
    from transformers import AutoTokenizer

    tokenizer, chance = AutoTokenizer.from_pretrained(tiny_model_folder), random.Random(3)

    def peak(count: int) -> int:
        tracemalloc.start()
        tokenize((chance.randbytes(6000).hex() for _ in range(count)), tokenizer, tmp_path / str(count))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(800) < 1.6 * peak(200)  # four times the text
