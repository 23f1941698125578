"""A few lines of a document that show why it was found."""

from __future__ import annotations

from collections import Counter

from retrolex.index.analysis import normalize
from retrolex.words import border, term_spans

LENGTH = 200  # characters
SHORT, LITTLE = 2, 0.1  # letters of words such as "of" and "5G", and what they count


def snippet(text: str, query: str, length: int = LENGTH) -> str:
    """The stretch of `text` with the most different words of `query`, on one line; its beginning when it has none of them.

    In scripts without spaces between words, pairs of neighbouring characters are looked for.
    """
    flat = " ".join(text.split())
    if len(flat) <= length:
        return flat
    wanted = {normalize(query[start:stop]) for start, stop in term_spans(query)}
    places = [(start, stop, term) for start, stop in term_spans(flat) if (term := normalize(flat[start:stop])) in wanted]
    before = length // 5
    best = densest(places, length - 2 * before)
    start = 0 if best <= 2 * before else max(border(flat, best - before), best - 2 * before)
    end = border(flat, start + length)
    return ("… " if start else "") + flat[start:end].strip() + (" …" if end < len(flat) else "")


def densest(places: list[tuple[int, int, str]], length: int) -> int:
    """The place from which `length` characters hold the most different words; 0 where there are none.

    Args:
        places: start, stop and word, ascending.
    """
    held: Counter[str] = Counter()
    best, most, last = 0, 0.0, 0
    for start, _, word in places:
        while last < len(places) and (places[last][1] <= start + length or places[last][0] == start):  # a word alone may be longer
            held[places[last][2]] += 1
            last += 1
        worth = sum(LITTLE if len(word) <= SHORT and word.isascii() else 1.0 for word in held)
        if worth > most:
            best, most = start, worth
        held[word] -= 1
        if not held[word]:
            del held[word]
    return best
