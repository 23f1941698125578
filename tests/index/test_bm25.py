"""BM25 against its formula in a loop, and the texts that other tools lose."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.errors import UserError
from retrolex.index.analysis import Analyzer, is_short, languages, normalize
from retrolex.index.bm25 import BM25Index

TEXTS = ["the wing of a plane", "planes and wings and wings", "", "vitamin d and bones", "a wing, a wing", "vitamin e"]


def built(folder: Path, texts: list[str], **options) -> BM25Index:
    return BM25Index.build(folder, [f"d{i}" for i in range(len(texts))], texts, **options)


def slow_scores(texts: list[str], query: str, k1: float = 0.9, b: float = 0.4) -> list[float]:
    """The formula, term by term: letters apart from words."""
    analyzer, total = Analyzer(), np.zeros(len(texts))
    for short, norm in ((False, b), (True, 0.0)):
        documents = [[term for term in analyzer.terms(text) if is_short(term) == short] for text in texts]
        terms = analyzer.terms(query)
        if short and sum(not is_short(term) for term in terms) > 3:
            continue
        mean = sum(map(len, documents)) / len(documents)
        for term in terms:
            containing = sum(term in document for document in documents)
            if not containing:
                continue
            idf = math.log(1 + (len(documents) - containing + 0.5) / (containing + 0.5))
            for i, document in enumerate(documents):
                frequency = Counter(document)[term]
                total[i] += idf * frequency / (frequency + k1 * (1 - norm + norm * len(document) / mean)) if frequency else 0
    return total.tolist()


@pytest.mark.parametrize("query", ["wing", "plane wings", "vitamin d", "vitamin d vitamin", "a b c", "long queries leave a letter like d out", ""])
def test_scores_are_the_formula(tmp_path: Path, query: str) -> None:
    assert built(tmp_path, TEXTS).scores(query).tolist() == pytest.approx(slow_scores(TEXTS, query), rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(alphabet="ab cd xé梵語", max_size=20), min_size=1, max_size=8), st.text(alphabet="ab cd xé梵語", max_size=12))
def test_any_text_scores_as_the_formula(tmp_path_factory, texts: list[str], query: str) -> None:
    index = built(tmp_path_factory.mktemp("bm25"), texts)
    expected = slow_scores(texts, query)
    assert index.scores(query).tolist() == pytest.approx(expected, rel=1e-4, abs=1e-6)
    positions, scores = index.search([query], 5)[0]
    order = sorted((i for i in range(len(texts)) if index.scores(query)[i] > 0), key=lambda i: (-index.scores(query)[i], i))
    assert positions.tolist() == order[:5] and scores.tolist() == [index.scores(query)[i] for i in order[:5]]


def test_ties_keep_document_order_also_at_the_cut(tmp_path: Path) -> None:
    index = built(tmp_path, ["same words"] * 50 + ["same"] + ["other"] * 50)
    positions, scores = index.search(["same words"], 10)[0]
    assert positions.tolist() == list(range(10)) and len(set(scores.tolist())) == 1
    assert positions.dtype == np.int64 and scores.dtype == np.float32


def test_more_asked_than_there_is(tmp_path: Path) -> None:
    index = built(tmp_path, ["one fish", "two fish", "red bird"])
    (few, scores), (none, _) = index.search(["fish", "unicorn"], 10)
    assert few.tolist() == [0, 1] and (scores > 0).all() and none.tolist() == []


def test_opened_is_built(tmp_path: Path) -> None:
    index, again = built(tmp_path, TEXTS), BM25Index.open(tmp_path)
    assert again.ids == index.ids == [f"d{i}" for i in range(6)] and len(again) == 6
    for query in ("wing", "vitamin d"):
        assert again.scores(query).tolist() == index.scores(query).tolist()
    assert again.bytes == sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) > 0


def test_the_same_bytes_every_time_and_no_pickle(tmp_path: Path) -> None:
    built(tmp_path / "a", TEXTS), built(tmp_path / "b", TEXTS)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert {path.suffix for path in files} == {".json", ".npy"}
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
        if file.suffix == ".npy":
            np.load(tmp_path / "a" / file, allow_pickle=False)


def test_empty_documents_alone(tmp_path: Path) -> None:
    built(tmp_path, ["", " ", "\n"])
    index = BM25Index.open(tmp_path)
    assert len(index) == 3 and index.search(["anything a"], 5)[0][0].tolist() == []


def test_one_letter_words_count_in_short_queries(tmp_path: Path) -> None:
    index = built(tmp_path, ["programs in C", "programs in R", "programs for 5G and 5 more"])
    assert [positions[0] for positions, _ in index.search(["C programs", "R", "5"], 1)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("language", "text", "query"),
    [
        ("hindi", "हिन्दी भाषा में लिखा हुआ पाठ", "हिन्दी"),
        ("arabic", "اللغة العربية جميلة", "العربية"),
        ("chinese", "梵語的學術研究", "學術"),
        ("japanese", "東京タワーに行きました", "タワー"),
        ("thai", "ภาษาไทยเป็นภาษาที่สวยงาม", "ภาษาไทย"),
        ("russian", "Книги лежали на столах", "книга стол"),
        ("greek", "Η γλώσσα των Ελλήνων", "γλώσσα"),
        ("italian", "Le città italiane", "citta\u0300"),
        ("german", "Die Häuser und die Straße", "hauser strasse haus"),
        ("korean", "한국어 문서", "한국어"),
        ("other", "tlhIngan Hol", "tlhingan"),
    ],
)
def test_every_script_is_found(tmp_path: Path, language: str, text: str, query: str) -> None:
    index = built(tmp_path, ["something else", text], language=language)
    assert index.search([query], 2)[0][0].tolist() == [1]


def test_marks_stay_with_their_letters() -> None:
    assert Analyzer("other").terms("हिन्दी") == ["हिन्दी"]
    assert Analyzer("english").terms("cafe\u0301") == Analyzer("english").terms("café") == ["café"]
    assert Analyzer("english").terms("C R 5G, Queen 's") == ["c", "r", "5g", "queen", "s"]
    assert Analyzer("chinese").terms("梵語研究A型x") == ["梵語", "語研", "研究", "a", "型", "x"]
    assert normalize("ＡＢＣ ﬁne soft\u00adhyphen") == "abc fine softhyphen"


def test_stop_words_and_stems() -> None:
    assert Analyzer("english").terms("The runners are running to the houses") == ["runner", "run", "hous"]
    assert Analyzer("italian").terms("le case della città") == ["cas", "citt"]


def test_what_the_user_can_mend(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"choose one of: .*english"):
        built(tmp_path, TEXTS, language="klingon")
    with pytest.raises(UserError, match="at least one document"):
        built(tmp_path, [])
    with pytest.raises(UserError, match="no BM25 index"):
        BM25Index.open(tmp_path / "nowhere")
    assert "hindi" in languages() and "chinese" in languages()
