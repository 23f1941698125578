"""Pain 3: thousands of long strings without a space make memory grow. Here the doctor needs no more for many than for some."""

from __future__ import annotations

import random
import tracemalloc

from retrolex.collection.doctor.lengths import Lengths
from retrolex.collection.doctor.token_counts import token_counter
from retrolex.collection.documents import Document
from retrolex.collection.readers.records import Place


def test_counting_the_tokens_of_long_strings_without_a_space(tiny_model_folder):
    counter, chance = token_counter(str(tiny_model_folder)), random.Random(3)

    def peak(count: int) -> int:
        """Most bytes of Python's memory while so many different strings of 12,000 characters are counted."""
        tracemalloc.start()
        lengths = Lengths(counter, 128)
        for number in range(1, count + 1):
            lengths.see(Document(str(number), "", chance.randbytes(6000).hex()), Place("a.txt", number))
        assert lengths.summary()["least"] > 0
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(800) < 1.5 * peak(200)
