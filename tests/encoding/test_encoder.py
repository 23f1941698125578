"""Vectors do not depend on what else is encoded, and equal what the model computes for one text alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.backbones import load_backbone, read_spec, write_spec
from retrolex.backbones.precision import bf16_pays
from retrolex.encoding import Encoder
from retrolex.encoding.encoder import PADDING, sparse
from retrolex.encoding.shards import encode_shards, read_shards
from retrolex.encoding.vocabulary import int8_pays

TEXTS = ["a river floods the plain", "bread", "", "the wing of an aircraft carries the load in steady flight " * 9, "हिन्दी 中文 \u0000 ok"]


@pytest.fixture(autouse=True)
def single_precision(monkeypatch) -> None:
    """Equality to 1e-5 needs float32."""
    monkeypatch.setattr("retrolex.encoding.encoder.bf16_pays", lambda: False)


@pytest.fixture(params=["dense", "lexicon"])
def encoder(request, tiny_model_folder) -> Encoder:
    return Encoder(tiny_model_folder, request.param, token_budget=64)


def plain(vectors) -> np.ndarray:
    return vectors.toarray() if hasattr(vectors, "toarray") else vectors


def test_many_texts_give_the_vectors_of_each_alone(encoder):
    together = plain(encoder.encode(TEXTS))
    alone = np.concatenate([plain(encoder.encode([text])) for text in TEXTS])
    assert together.shape == (len(TEXTS), encoder.width)
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_lexicon_weights_are_the_formula_of_the_paper(tiny_model_folder):
    encoder = Encoder(tiny_model_folder, "lexicon")
    backbone, tokenizer = load_backbone(tiny_model_folder)
    ids = torch.tensor([tokenizer(TEXTS[0])["input_ids"]])
    logits = backbone.model(input_ids=ids).logits[0, 1:-1]  # no specials
    expected = torch.log1p(torch.relu(logits.max(0).values)).detach().numpy()
    np.testing.assert_allclose(plain(encoder.encode([TEXTS[0]]))[0], expected, atol=1e-5)


def test_a_text_without_words_has_the_zero_lexicon_vector(tiny_model_folder):
    assert Encoder(tiny_model_folder, "lexicon").encode([""]).nnz == 0


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("others", [[], [[2, 9, 3]]])
def test_a_text_without_tokens_has_the_zero_vector(encoder, pooling, others):
    encoder.spec = replace(encoder.spec, pooling=pooling)
    vectors = plain(encoder.encode_tokens([[], *others, []]))
    assert vectors.shape == (len(others) + 2, encoder.width) and np.flatnonzero(vectors.any(1)).tolist() == [1][: len(others)]


@pytest.mark.skipif(not (bf16_pays() and int8_pays()), reason="float32 sums in another order beside other texts: its last bits differ")
@pytest.mark.parametrize("representation", ["dense", "lexicon"])
def test_in_bfloat16_a_text_has_the_same_bits_beside_any_others(representation, tiny_model_folder, monkeypatch):
    monkeypatch.undo()
    encoder = Encoder(tiny_model_folder, representation)
    together = plain(encoder.encode(TEXTS * 3))
    alone = np.concatenate([plain(encoder.encode([text])) for text in TEXTS])
    assert np.array_equal(together, np.tile(alone, (3, 1))) and encoder.layers is not None


def test_no_texts_give_no_rows(encoder):
    assert encoder.encode([]).shape == (0, encoder.width)


def test_what_is_too_long_is_cut_at_the_length_of_its_kind(tiny_model_folder, tmp_path):
    encoder = Encoder(tiny_model_folder)
    assert len(encoder.tokens(["river " * 500], "document")[0]) <= read_spec(tiny_model_folder).document_length
    assert len(encoder.tokens(["river " * 500], "query")[0]) == read_spec(tiny_model_folder).query_length


def test_prefixes_of_the_model_are_applied(tiny_model_folder, tmp_path):
    import shutil
    from dataclasses import replace

    folder = shutil.copytree(tiny_model_folder, tmp_path / "model")
    write_spec(folder, replace(read_spec(folder), query_prefix="bread ", document_prefix="river "))
    prefixed, bare = Encoder(folder), Encoder(tiny_model_folder)
    assert prefixed.tokens(["flood"], "query") == bare.tokens(["bread flood"], "query")
    assert prefixed.tokens(["flood"], "document") == bare.tokens(["river flood"], "document")


def test_top_k_keeps_the_largest_and_is_the_identity_when_k_is_large():
    weights = torch.tensor([[0.0, 3.0, 1.0, 3.0], [0.0, 0.0, 0.0, 0.5]])
    np.testing.assert_array_equal(sparse(weights, 1).toarray(), [[0, 3, 0, 0], [0, 0, 0, 0.5]])  # a tie: the earlier term
    np.testing.assert_array_equal(sparse(weights, 2).toarray(), [[0, 3, 0, 3], [0, 0, 0, 0.5]])
    np.testing.assert_array_equal(sparse(weights, 9).toarray(), weights.numpy())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_top_k_is_what_sorting_every_row_gives(seed, top_k):
    weights = torch.relu(torch.randint(-3, 4, (5, 12), generator=torch.Generator().manual_seed(seed)).float())  # full of ties
    kept = torch.argsort(weights, dim=1, descending=True, stable=True)[:, :top_k]
    slow = torch.zeros_like(weights).scatter_(1, kept, weights.gather(1, kept))
    np.testing.assert_array_equal(sparse(weights, top_k).toarray(), slow.numpy())


@given(st.lists(st.integers(1, 300), min_size=1, max_size=80), st.booleans())
def test_batches_hold_every_text_once_within_the_budget_and_little_padding(lengths, padded):
    model = Encoder.__new__(Encoder)
    model.token_budget, model.device, model.layers = 512, torch.device("cpu"), None if padded else "any"
    tokens = [[0] * length for length in lengths]
    batches = model.batches(np.argsort([-length for length in lengths], kind="stable"), tokens)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        inside = [lengths[i] for i in batch]
        assert inside == sorted(inside, reverse=True)
        size = max(inside) * len(batch) if padded else sum(inside)
        assert len(batch) == 1 or (size <= 512 and (not padded or size - sum(inside) <= PADDING["cpu"]))


def test_no_more_texts_than_agreed_have_vocabulary_wide_rows_at_a_time(tiny_model_folder, monkeypatch):
    encoder, seen = Encoder(tiny_model_folder, "lexicon"), []
    expected = encoder.encode(TEXTS)

    def watched(hidden, packed):
        seen.append(len(packed.lengths))
        return Encoder.terms(encoder, hidden, packed)

    monkeypatch.setattr(encoder, "terms", watched)
    monkeypatch.setattr("retrolex.encoding.encoder.WIDE", 2)
    np.testing.assert_allclose(encoder.encode(TEXTS).toarray(), expected.toarray(), atol=1e-5)
    assert max(seen) == 2 and sum(seen) == len(TEXTS)


def test_padded_texts_give_the_same_vectors(encoder):
    """As on a GPU, and for families whose layers are not BERT's."""
    packed = plain(encoder.encode(TEXTS))
    encoder.layers = encoder.vocabulary = None
    np.testing.assert_allclose(plain(encoder.encode(TEXTS)), packed, atol=1e-5)


def test_shards_are_the_whole_and_a_second_call_makes_only_what_is_missing(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("retrolex.encoding.shards.SHARD", 2)
    calls = []

    def encode(texts):
        calls.append(len(texts))
        return encoder.encode(texts)

    counts = encode_shards(len(TEXTS), lambda a, b: TEXTS[a:b], encode, tmp_path, "test")
    assert calls == [2, 2, 1]
    assert counts["shards"] == 3
    whole = np.concatenate([plain(shard) for shard in read_shards(tmp_path)])
    np.testing.assert_allclose(whole, plain(encoder.encode(TEXTS)), atol=1e-5)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for path in tmp_path.glob("shard-00001*"):
        path.unlink()
    encode_shards(len(TEXTS), lambda a, b: TEXTS[a:b], encode, tmp_path, "test")
    assert calls == [2, 2, 1, 2]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
