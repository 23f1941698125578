"""Documents from the token cache are what tokenising their texts gives; windows of them are vectors of their own."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from tests.tokens.conftest import TEXTS, train

from retrolex.backbones import Spec, read_spec, write_spec
from retrolex.encoding import Encoder
from retrolex.encoding.documents import encode_documents, encode_passages
from retrolex.encoding.shards import read_shards
from retrolex.errors import UserError
from retrolex.tokens import Tokens, tokenize
from retrolex.tokens.passages import Passages

ROWS = ["Title and text of a river. It floods the plain [SEP] in spring.", "", "bread", *TEXTS, "हिन्दी 中文 \u0000 ok", "the river floods " * 60]


@pytest.fixture(autouse=True)
def single_precision(monkeypatch) -> None:
    monkeypatch.setattr("retrolex.encoding.encoder.bf16_pays", lambda: False)


@pytest.fixture
def encoder(tiny_model_folder):
    return Encoder(tiny_model_folder, spec=replace(read_spec(tiny_model_folder), document_length=24))


@pytest.fixture
def tokens(encoder, tmp_path):
    tokenize(ROWS, encoder.tokenizer, tmp_path / "tokens")
    return Tokens.open(tmp_path / "tokens")


class Around(Encoder):
    """As much of an encoder as meets tokens, around any tokenizer."""

    def __init__(self, tokenizer, spec):
        self.tokenizer, self.spec = tokenizer, spec


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
@pytest.mark.parametrize("length", [8, 24, 500])
def test_the_same_ids_as_from_the_text(kind, length, tmp_path):
    encoder = Around(train(kind), Spec(document_length=length))
    tokenize(ROWS, encoder.tokenizer, tmp_path)
    tokens = Tokens.open(tmp_path)
    assert encoder.framing.reads(tokens)
    assert [encoder.framing.framed(tokens[row]) for row in range(len(ROWS))] == encoder.tokens(ROWS, "document")
    assert encoder.framing.reads(tokens)  # the truncation that the tokenizer now has is no other tokenizer


def test_what_could_differ_is_tokenised_again(tmp_path):
    encoder = Around(train("bpe"), Spec())
    tokenize(ROWS, train("wordpiece"), tmp_path)
    assert not encoder.framing.reads(Tokens.open(tmp_path))
    tokenize(ROWS, encoder.tokenizer, tmp_path)
    assert encoder.framing.reads(Tokens.open(tmp_path))
    assert not Around(encoder.tokenizer, Spec(document_prefix="passage: ")).framing.reads(Tokens.open(tmp_path))


def test_documents_from_the_cache_are_the_documents(encoder, tokens, tmp_path, monkeypatch):
    expected = encoder.encode(ROWS)
    monkeypatch.setattr(encoder, "tokens", None)  # no text is tokenised
    counts = encode_documents(encoder, tokens, lambda a, b: ROWS[a:b], tmp_path, "test")
    np.testing.assert_array_equal(np.concatenate([*read_shards(tmp_path)]), expected)
    assert counts["vectors"] == len(ROWS)


def test_a_prefix_is_still_applied(tiny_model_folder, tmp_path):
    folder = shutil.copytree(tiny_model_folder, tmp_path / "model")
    write_spec(folder, replace(read_spec(folder), document_prefix="river "))
    encoder = Encoder(folder)
    tokenize(ROWS, encoder.tokenizer, tmp_path / "tokens")
    (tmp_path / "vectors").mkdir()
    encode_documents(encoder, Tokens.open(tmp_path / "tokens"), lambda a, b: ROWS[a:b], tmp_path / "vectors", "test")
    np.testing.assert_array_equal(np.concatenate([*read_shards(tmp_path / "vectors")]), encoder.encode(ROWS))
    assert encoder.framing.framed(np.array([7]))[:2] == encoder.tokens([""], "document")[0][:-1]  # windows begin with the prefix, too


def test_passages_are_the_vectors_of_their_windows(encoder, tokens, tmp_path):
    counts = encode_passages(encoder, tokens, 6, tmp_path, "test")
    passages, vectors = Passages.open(tmp_path), np.concatenate([*read_shards(tmp_path)])
    assert counts["documents"] == passages.documents == len(ROWS) and counts["vectors"] == len(vectors) == len(passages.document)
    for vector, row, start, stop in zip(vectors, *passages[:3], strict=True):
        alone = encoder.encode_tokens([encoder.framing.framed(tokens[row][start:stop])])[0]
        np.testing.assert_allclose(vector, alone, atol=1e-5)
    short = np.flatnonzero(np.bincount(passages.document) == 1)
    assert {1, 2} <= set(short.tolist())  # an empty document and a short one have one passage: the vector of the whole
    whole = encoder.encode([ROWS[row] for row in short])
    np.testing.assert_allclose(vectors[passages.first[short]], whole, atol=1e-5)


def test_a_passage_is_a_piece_of_its_text(encoder, tokens, tmp_path):
    encode_passages(encoder, tokens, 6, tmp_path, "test")
    for row, start, stop in zip(*Passages.open(tmp_path)[:3], strict=True):
        begin, end = encoder.characters(ROWS[row], start, stop)
        piece = encoder.tokenizer(ROWS[row][begin:end], add_special_tokens=False)["input_ids"]
        assert piece == tokens[row][start:stop].tolist()


def test_a_document_of_100_000_words(tiny_model_folder, tmp_path):
    encoder = Encoder(tiny_model_folder, spec=replace(read_spec(tiny_model_folder), document_length=64))
    tokenize(["the river floods the plain " * 20_000, "bread"], encoder.tokenizer, tmp_path)
    tokens = Tokens.open(tmp_path)
    counts = encode_passages(encoder, tokens, 12, tmp_path, "test")
    passages = Passages.open(tmp_path)
    assert passages.documents == 2 and counts["vectors"] == len(passages.document) >= tokens.total // 50
    assert passages.stop[-2] == len(tokens[0]) and (passages.start[1:-1] <= passages.stop[:-2] - 12).all()


def test_windows_of_anothers_tokens_are_refused(encoder, tmp_path):
    tokenize(ROWS, train("bpe"), tmp_path)
    with pytest.raises(UserError, match="another tokenizer"):
        encode_passages(encoder, Tokens.open(tmp_path), 6, tmp_path, "test")
