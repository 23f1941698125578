"""What is computed without padding equals what the model computes with it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import BertConfig, BertForMaskedLM, DistilBertConfig, DistilBertForMaskedLM, RobertaConfig, RobertaForMaskedLM

from retrolex.backbones import load_backbone, wrap
from retrolex.backbones.base import Backbone
from retrolex.backbones.representations import lexicon, pool
from retrolex.encoding import vocabulary
from retrolex.encoding.packed import Packed, PackedLayers, Product, attend, runs
from retrolex.encoding.vocabulary import Vocabulary, maxima

SIZES = {"vocab_size": 90, "num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64, "pad_token_id": 1}
LENGTHS = st.lists(st.integers(0, 9), min_size=1, max_size=12)
ROWS = [[2, *range(10, 22), 3], [2, 30, 31, 32, 3], [2, 40, 1, 42, 3], [2, 50, 3], [2, 3]]  # one with the padding token in its text


@pytest.fixture(params=["bert", "roberta"])
def backbone(request) -> Backbone:
    torch.manual_seed(0)
    model = BertForMaskedLM(BertConfig(**SIZES)) if request.param == "bert" else RobertaForMaskedLM(RobertaConfig(**SIZES))
    for parameter in model.parameters():  # biases and norms too
        torch.nn.init.normal_(parameter, std=0.3)
    return wrap(model.eval())


@pytest.fixture
def packed() -> Packed:
    return Packed.of(ROWS, torch.device("cpu"))


@torch.inference_mode()
def test_hidden_states_are_those_of_the_model(backbone, packed):
    assert PackedLayers.suits(backbone)
    attention = packed.attention()
    expected = backbone.hidden(packed.padded(packed.ids, 1), attention)[attention.bool()]
    torch.testing.assert_close(PackedLayers(backbone)(packed), expected, atol=1e-4, rtol=1e-4)


@torch.inference_mode()
def test_the_precision_of_the_weights_is_the_precision_of_the_hidden_states(backbone, packed):
    single = PackedLayers(backbone)(packed)
    half = PackedLayers(backbone.to(torch.bfloat16))(packed)
    assert half.dtype == torch.bfloat16
    assert torch.nn.functional.cosine_similarity(half.float(), single).min() > 0.99


def test_other_families_are_left_to_themselves():
    model = DistilBertForMaskedLM(DistilBertConfig(vocab_size=90, n_layers=1, dim=32, n_heads=2, hidden_dim=64))
    assert not PackedLayers.suits(wrap(model))


@pytest.mark.parametrize("words", [7, 90])
@torch.inference_mode()
def test_lexicon_weights_are_those_of_padded_texts(backbone, packed, monkeypatch, words):
    monkeypatch.setattr(vocabulary, "WORDS", words)
    hidden, mask = torch.randn(len(packed.ids), 32), packed.ids > 5
    expected = lexicon(backbone, packed.padded(hidden), packed.padded(mask))
    assert (expected > 0).any() and not expected[-1].any()
    torch.testing.assert_close(Vocabulary(backbone).weights(hidden, mask, packed.lengths), expected, atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_a_head_in_integers_is_nearly_the_same(backbone, packed, monkeypatch):
    monkeypatch.setattr(vocabulary, "int8_pays", lambda: True)
    hidden, mask = torch.randn(len(packed.ids), 32), packed.ids > 5
    expected = lexicon(backbone, packed.padded(hidden), packed.padded(mask))
    head = Vocabulary(backbone.to(torch.bfloat16))
    assert head.rounds
    found = head.weights(hidden.bfloat16(), mask, packed.lengths)
    torch.testing.assert_close(found, expected, atol=0.05, rtol=0.02)
    assert torch.nn.functional.cosine_similarity(found, expected)[:-1].min() > 0.999


@torch.inference_mode()
def test_a_head_in_integers_gives_each_text_the_same_bits_beside_any_others(backbone, monkeypatch):
    monkeypatch.setattr(vocabulary, "int8_pays", lambda: True)
    head, counts = Vocabulary(backbone.to(torch.bfloat16)), [7, 7, 3, 0, 1]
    rows = torch.randn(sum(counts), 32).bfloat16() * torch.linspace(0, 100, sum(counts), dtype=torch.bfloat16)[:, None]
    alone = [head.peaks(part, [len(part)]) for part in rows.split(counts) if len(part)]
    assert torch.equal(head.peaks(rows, counts), torch.cat(alone))


@torch.inference_mode()
def test_texts_without_words_have_no_weights(backbone):
    weights = Vocabulary(backbone).weights(torch.randn(4, 32), torch.zeros(4, dtype=torch.bool), [2, 2])
    assert weights.shape == (2, 90) and not weights.any()


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_pooling_is_that_of_padded_texts(packed, pooling):
    hidden = torch.randn(len(packed.ids), 8).bfloat16()
    torch.testing.assert_close(packed.pool(hidden, pooling), pool(packed.padded(hidden), packed.attention(), pooling))


@given(LENGTHS, st.integers(1, 5))
def test_groups_are_the_texts_in_their_order(lengths, texts):
    packed = Packed(torch.arange(sum(lengths)), lengths)
    groups = packed.groups(texts)
    assert [length for group, _ in groups for length in group.lengths] == lengths
    assert all(len(group.lengths) <= texts and torch.equal(group.ids, packed.ids[inside]) for group, inside in groups)
    assert torch.equal(torch.cat([group.ids for group, _ in groups]), packed.ids)


@given(LENGTHS)
def test_runs_cover_every_row_once(lengths):
    places = runs(lengths)
    assert [length for _, texts, length in places for _ in range(texts)] == [length for length in lengths if length]
    assert [row for begin, texts, length in places for row in range(begin, begin + texts * length)] == list(range(sum(lengths)))


@settings(deadline=None, max_examples=30)
@given(LENGTHS.filter(any))
def test_maxima_and_attention_are_those_of_each_text_alone(lengths):
    rows = torch.randn(sum(lengths), 12)
    parts = [part for part in rows.split(lengths) if len(part)]
    torch.testing.assert_close(maxima(rows, lengths), torch.stack([part.amax(0) for part in parts]))
    query, key, value = rows.view(-1, 3, 2, 2).permute(1, 2, 0, 3)
    expected, begin = [], 0
    for length in lengths:
        q, k, v = (tensor[:, begin : begin + length] for tensor in (query, key, value))
        expected.append((torch.softmax(q @ k.mT / 2**0.5, -1) @ v).transpose(0, 1).flatten(1))
        begin += length
    torch.testing.assert_close(attend(rows, runs(lengths), 2), torch.cat(expected))


@pytest.mark.parametrize("bias", [True, False])
def test_a_product_is_the_linear_layer_with_onednn_and_without(monkeypatch, bias):
    layer, rows = torch.nn.Linear(16, 5, bias=bias), torch.randn(7, 16)
    expected = layer(rows).detach()
    torch.testing.assert_close(Product(layer.weight, layer.bias)(rows), expected)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    plain = Product(layer.weight, layer.bias)
    assert not plain.packed
    torch.testing.assert_close(plain(rows), expected)


def test_relative_positions_are_left_to_the_model(tiny_model_folder):
    """transformers 4.57 still makes them; read as absolute ones, every vector would be wrong without a word."""
    backbone, _ = load_backbone(tiny_model_folder)
    assert PackedLayers.suits(backbone)
    backbone.config.position_embedding_type = "relative_key"
    assert not PackedLayers.suits(backbone)
