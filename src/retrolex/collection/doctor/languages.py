"""Which languages the texts are in: by script, and for the Latin one by its commonest small words.

A text is guessed from its first characters only; where too few small words stand in it, its script is all that is said.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from retrolex.collection.doctor.findings import Finding, Tally
from retrolex.collection.doctor.ledger import Ledger
from retrolex.collection.documents import Document, Judgment, Query
from retrolex.collection.readers.records import Place

LOOKED_AT = 600  # characters of a text
HITS = 3  # different small words that a text needs for a guess
SHARE = 0.08  # of a text's words that are small words of the language; code and lists of names have fewer
AHEAD = 1.5  # how many times more of them the best language needs than the next
MINORITY = 0.02  # a second language below this share is not worth a note

SMALL_WORDS = {
    "english": "the of and to in is that for it with as was on are by this be from at an which have not or has",
    "german": "der die und das ist nicht den mit von auf für dem sich ein eine zu des im wird auch wurde als einer werden",
    "french": "le la les des et est une du dans pour que qui par sur au avec pas ce il sont ne aux cette ou",
    "spanish": "el la los las de que en una del por con para se es su como más al lo fue entre este sus",
    "italian": "il di che la per un una della con del non sono dei nel alla più le gli come ha nella delle al",
    "portuguese": "os as de que em um uma do da dos das não para com por no na mais como foi ao pelo",
    "dutch": "de het een van en is niet dat op te voor met zijn aan door ook bij werd uit deze naar wordt heeft om",
    "swedish": "och att det som en på är av för med till den inte ett om har de jag var från vid kan eller så",
    "danish": "og at det som en på er af for med til den ikke et om har de jeg var fra ved kan eller blev",
    "norwegian": "og at det som en på er av for med til den ikke et om har de jeg var fra ved kan eller ble",
    "finnish": "ja on ei että se oli hän mutta ovat myös kun niin kuin joka mukaan sen tai ole vain mitä voi jos sekä jotka",
    "polish": "na do się nie jest to że jak po od za przez dla był ale są przy oraz jego tym",
    "romanian": "și în de la cu pe este din care nu un că mai sau pentru fost prin sunt al ale ca dar lui",
    "turkish": "ve bir bu için ile da de olarak çok en daha gibi olan sonra kadar her ne ya değil var ise ki mi",
    "indonesian": "yang dan di dengan untuk dari pada ini itu dalam adalah tidak ke sebagai oleh atau juga akan telah karena bisa ada mereka dapat",
}
SCRIPTS = {
    "Latin": "A-Za-z\u00aa-\u024f\u1e00-\u1eff",
    "Cyrillic": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Arabic": "\u0600-\u06ff\u0750-\u077f",
    "Hebrew": "\u0590-\u05ff",
    "Devanagari": "\u0900-\u097f",
    "Bengali": "\u0980-\u09ff",
    "Tamil": "\u0b80-\u0bff",
    "Thai": "\u0e00-\u0e7f",
    "Hangul": "\uac00-\ud7af\u1100-\u11ff",
    "Kana": "\u3040-\u30ff",
    "Han": "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff",
}
OF_SCRIPT = {"Han": "chinese", "Kana": "japanese", "Hangul": "korean", "Thai": "thai"}
WORD = re.compile(r"[^\W\d_]+")
UNKNOWN = "no letters"


@lru_cache(maxsize=1)
def _tables() -> tuple[dict[str, list[str]], dict[str, re.Pattern[str]]]:
    """Small word -> languages it is common in; script -> its letters."""
    languages: dict[str, list[str]] = {}
    for language, words in SMALL_WORDS.items():
        for word in words.split():
            languages.setdefault(word, []).append(language)
    return languages, {script: re.compile(f"[{letters}]") for script, letters in SCRIPTS.items()}


def script_of(text: str) -> str:
    """The script of most letters. Japanese is told by its kana, of which it always has some among the Han characters."""
    if text.isascii():
        return "Latin" if WORD.search(text) else UNKNOWN
    counts = {script: len(pattern.findall(text)) for script, pattern in _tables()[1].items()}
    if counts["Kana"] * 10 > counts["Han"] + counts["Kana"]:
        counts["Kana"] += counts.pop("Han")
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else UNKNOWN


def language_of(text: str) -> str:
    """A language's English name in small letters, or `Latin script` and the like where no more can be said."""
    text = text[:LOOKED_AT]
    script = script_of(text)
    if script != "Latin":
        return OF_SCRIPT.get(script, script if script == UNKNOWN else f"{script} script")
    languages = _tables()[0]
    words = WORD.findall(text.lower())
    hits = Counter(language for word in set(words) for language in languages.get(word, ()))
    (best, most), (_, next_most) = [*hits.most_common(2), ("", 0), ("", 0)][:2]
    small = sum(best in languages.get(word, ()) for word in words)
    return best if most >= HITS and most >= AHEAD * next_most and small >= SHARE * len(words) else "Latin script"


class Languages:
    """Guesses the language of every document and every query."""

    def __init__(self) -> None:
        self.documents: dict[str, Tally] = {}
        self.queries: dict[str, Tally] = {}

    def see(self, item: Document | Query | Judgment, place: Place) -> None:
        """One more row."""
        if isinstance(item, Judgment):
            return
        # A document's text before its title: titles are short, and may be names.
        language = language_of(item.text or (item.title if isinstance(item, Document) else ""))
        tallies = self.documents if isinstance(item, Document) else self.queries
        tallies.setdefault(language, Tally()).add(place, f"{language}, by the look of it")

    def summary(self) -> dict[str, float]:
        """Language -> share of the documents, the commonest first."""
        return _shares(self.documents)

    def findings(self, ledger: Ledger) -> list[Finding]:
        """Several languages in one collection."""
        documents, queries = (_known(_shares(tallies)) for tallies in (self.documents, self.queries))
        found: list[Finding] = []
        for language, share in list(documents.items())[1:]:
            if share >= MINORITY:
                mend = f"import them apart from the {next(iter(documents))} ones, or use a multilingual start"
                found += self.documents[language].finding(f"documents in {language} ({share:.0%})", "note", mend)
        (own, _), (asked, share) = (next(iter(known.items()), ("", 0)) for known in (documents, queries))
        if own and asked and asked != own and share > 0.5:
            mend = "use a multilingual start, and expect nothing of BM25"
            found += self.queries[asked].finding(f"queries in {asked}, documents in {own}", "warning", mend)
        return found


def _shares(tallies: dict[str, Tally]) -> dict[str, float]:
    total = sum(tally.count for tally in tallies.values())
    return {language: tally.count / total for language, tally in sorted(tallies.items(), key=lambda item: (-item[1].count, item[0]))}


def _known(shares: dict[str, float]) -> dict[str, float]:
    """What is a language, or a script that tells it from the others."""
    return {language: share for language, share in shares.items() if language not in (UNKNOWN, "Latin script")}
